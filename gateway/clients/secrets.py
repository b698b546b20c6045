"""Which stretches of a client's values are secrets, by name or form; in doubt they are."""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias
from urllib.parse import unquote, urlsplit

from gateway.config import telling
from gateway.events.matcher import Matcher
from gateway.events.patterns import PATTERNS
from gateway.types.tools import Sensitivity

Span: TypeAlias = tuple[int, int]

_FORMS: Final = tuple(
    each
    for each in PATTERNS
    if each.kind is Sensitivity.SECRET and each.name not in {"spoken", "header"}
)
_MATCHER: Final = Matcher(tuple(each.regex for each in _FORMS))
_OPAQUE: Final = re.compile(r"[A-Za-z0-9_-]{20,}", re.ASCII)
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|apikey|api-key)[ \t]+(?=\S)", re.IGNORECASE)
_FLAG: Final = re.compile(r"--?([A-Za-z][A-Za-z0-9_.-]*)", re.ASCII)
_ASSIGNED: Final = re.compile(r"(?:--?)?([A-Za-z][A-Za-z0-9_.-]*)=(?=.)", re.ASCII | re.DOTALL)
_HEADER: Final = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):[ \t]*(?=[^\s/])", re.ASCII)
# A flag, as against a key that begins with `-` by chance: `--verbose`, `--log-level=debug`.
_FLAGS: Final = re.compile(r"--?[a-z]+(?:-[a-z]+)*(?:=.*)?", re.ASCII | re.DOTALL)
# The same inside of a text, such as the command of `sh -c` or a connection's settings.
_INSIDE: Final = re.compile(
    r"(?<![\w.-])(?:--?)?([A-Za-z][A-Za-z0-9_.-]{0,80})=([^\s;,&'\"]+)"
    r"|(?<![\w.-])--?([A-Za-z][A-Za-z0-9_.-]{0,80})[ \t]+(?!-)([^\s;,&|'\"]+)",
    re.ASCII,
)
_USER: Final = frozenset({"u", "user", "userpwd", "proxy-user"})
_USER_AND: Final = re.compile(r"[^\s:/]*:(?=[^\s/:]*[^\d\s/:])")  # not `1000:1000`, nor `a://`
_QUERY: Final = re.compile(r"[?&;#]([A-Za-z0-9_.%-]{1,200})=([^&#]+)")
# Words that tell of a secret in a server's environment, if not in a setting of ours.
_WORDS: Final = re.compile(
    r"(?:^|_)(?:license|mnemonic|otp|pin|private|salt|seed|signing|webhook)(?:_|$)", re.IGNORECASE
)
_CODED: Final = re.compile(r"[A-Za-z0-9_+/=-]{20,}", re.ASCII)


def in_header(text: str) -> tuple[Span, ...]:
    """Return the value of a header without its scheme, as in `Bearer …`: all of them count."""
    return ((_after_scheme(text, 0), len(text)),) if text.strip() else ()


def in_variable(name: str, text: str) -> tuple[Span, ...]:
    """Return the secrets of a variable of a server's environment: all of it, if its name tells."""
    if not text.strip():
        return ()
    if telling.is_credential(name) or _WORDS.search(name) or _is_opaque(text):
        return ((0, len(text)),)
    return in_text(text)


def in_argument(text: str, before: str) -> tuple[tuple[Span, ...], str]:
    """Return the secrets of an argument, and the name that told of one; `before` stands before it.

    `--token x`, `--token=x`, `TOKEN=x`, `Authorization: Bearer x`, or what has the form of one.
    """
    flag = _FLAG.fullmatch(before)
    if flag and text and not _FLAGS.fullmatch(text):
        if telling.is_credential(flag[1]) or (flag[1].lower() == "pwd" and "/" not in text):
            return ((_after_scheme(text, 0), len(text)),), flag[1]
        user = _USER_AND.match(text) if flag[1] in _USER else None
        if user:
            return ((user.end(), len(text)),), "password"
    for form in (_ASSIGNED, _HEADER):
        named = form.match(text)
        if named and telling.is_credential(named[1]):
            return ((_after_scheme(text, named.end()), len(text)),), named[1]
    if "://" in text:
        return in_url(text), ""
    return (((0, len(text)),) if _is_opaque(text) else in_text(text)), ""


def in_url(text: str) -> tuple[Span, ...]:
    """Return the secrets of a URL: user and password, telling parameters, opaque parts of paths."""
    spans = [*in_text(text)]
    spans += [each.span(2) for each in _QUERY.finditer(text) if _is_telling(each[1], each[2])]
    try:
        path = urlsplit(text).path
    except ValueError:
        path = ""
    begin = text.find(path) if path else -1
    if begin >= 0:
        spans += [
            (begin + each.start(), begin + each.end())
            for each in _OPAQUE.finditer(path)
            if _is_mixed(each.group())
        ]
    return merged(spans)


def in_text(text: str) -> tuple[Span, ...]:
    """Return what has the form of a secret."""
    return merged(_by_form(text))


def _is_telling(name: str, text: str) -> bool:
    """Whether a parameter is a secret by its name, its form, or what is packed into it."""
    plain = unquote(text)
    return (
        telling.is_credential(unquote(name))
        or (_CODED.fullmatch(plain) is not None and _is_mixed(plain))
        or (plain != text and bool(in_text(plain)))
    )


def merged(spans: list[Span] | Iterator[Span]) -> tuple[Span, ...]:
    """Return spans in order, with those that touch each other as one."""
    made: list[Span] = []
    for start, end in sorted(spans):
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        elif start < end:
            made.append((start, end))
    return tuple(made)


def _by_form(text: str) -> Iterator[Span]:
    for each in _INSIDE.finditer(text):
        if telling.is_credential(each[1] or each[3]):
            yield each.span(2 if each[1] else 4)
    for index in _MATCHER.which(text):
        check = _FORMS[index].check
        for start, end in _MATCHER.spans(index, text):
            yield start, end if check is None else start + check(text[start:end])


def _after_scheme(text: str, at: int) -> int:
    found = _SCHEME.match(text, at)
    return found.end() if found else at


def _is_opaque(text: str) -> bool:
    """Whether a text is one long word that nobody would write: a key, as a rule."""
    return _OPAQUE.fullmatch(text) is not None and _is_mixed(text)


def _is_mixed(text: str) -> bool:
    digits = sum(each.isdigit() for each in text)
    return digits >= 3 and any(each.isalpha() for each in text)
