"""A client's servers as entries of ours, with secrets and references as `${VAR}`."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gateway.clients import references, secrets
from gateway.clients.entries import Entry, Left
from gateway.clients.kinds import CODEX, Client
from gateway.clients.references import Around, Piece, Untranslatable
from gateway.clients.secrets import Span
from gateway.types.json import Json, JsonObject
from gateway.types.values import value

_OTHER: Final = re.compile(r"[^A-Za-z0-9]+", re.ASCII)
_CODEX_START_S: Final = 60
_LONGEST: Final = 100  # of a variable's name, so that a number fits behind it


@value
class Translated:
    """One server as it goes into a configuration."""

    entry: Entry
    name: str  # ours
    section: JsonObject


class Variables:
    """The variables that a configuration needs: with values of our own, or given by the client."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._reserved = frozenset(reserved)
        self.values: dict[str, str] = {}  # for the file of variables
        self.passed: dict[str, str] = {}  # what gives each in the client's own syntax

    def keep(self, wanted: str, server: str, secret: str) -> str:
        """Return the variable for a secret: the wanted one, or one of the server's own."""
        base = _variable(wanted)
        own = _variable(f"{server}_{base}")[:_LONGEST]
        numbered = (f"{own}_{number}" for number in range(2, 10_000))
        for name in (base, own, *numbered):
            if self.values.get(name) == secret:
                return name
            if name not in self.values and name not in self.passed and name not in self._reserved:
                self.values[name] = secret
                return name
        raise AssertionError("there are more names than servers")

    def expect(self, variable: str, source: str) -> str:
        """Note that a client gives a variable, and return its name here.

        One that is written in two ways, as with another default, has two values and two names: no
        server may be given what is another's.
        """
        numbered = (f"{variable}_{number}" for number in range(2, 10_000))
        for name in (variable, *numbered):
            is_free = name == variable or not (name in self.values or name in self._reserved)
            if is_free and self.passed.setdefault(name, source) == source:
                return name
        raise AssertionError("there are more names than references")


def referred(entries: Iterable[Entry], client: Client, around: Around) -> frozenset[str]:
    """Return the variables that entries take from the client, whose names are taken therefore."""
    found: set[str] = set()
    for entry in entries:
        found |= {*entry.variables, *entry.header_variables.values(), entry.bearer_variable}
        for text in _texts(entry):
            try:
                pieces = references.find(text, client.dialect, around)
            except Untranslatable:
                continue
            found |= {each.variable for each in pieces}
    return frozenset(found - {""})


def translated(
    entry: Entry, name: str, client: Client, around: Around, variables: Variables
) -> Translated | Left:
    """Return an entry in our words; one that refers to what only its client knows stays there."""
    try:  # first, so that nothing is kept of a server that stays
        for text in _texts(entry):
            references.find(text, client.dialect, around)
    except Untranslatable as error:
        return Left(name=entry.name, reason=str(error))
    writer = _Writer(name, client, around, variables)
    section = writer.stdio(entry) if entry.command else writer.http(entry)
    if entry.start_timeout_s is not None:
        section["start_timeout"] = _duration(entry.start_timeout_s)
    if entry.timeout_s is not None:
        section["timeout"] = _duration(entry.timeout_s)
    return Translated(entry=entry, name=name, section=section)


class _Writer:
    """Writes one server."""

    def __init__(self, name: str, client: Client, around: Around, variables: Variables) -> None:
        self._name = name
        self._client = client
        self._around = around
        self._variables = variables

    def stdio(self, entry: Entry) -> JsonObject:
        command = self._path(self._plain(entry.command), only_relative=True)
        section: JsonObject = {"command": command}
        if entry.args:
            section["args"] = self._args(entry.args)
        env: JsonObject = {
            key: self._text(text, key, secrets.in_variable(key, text))
            for key, text in entry.env.items()
        }
        if env:
            section["env"] = env
        for each in entry.variables:
            self._variables.expect(each, each)
        inherited = dict.fromkeys((*entry.variables, *self._around.inherited))
        if wanted := [each for each in inherited if each not in env]:
            section["inherit_env"] = list[Json](wanted)
        if entry.cwd:
            section["cwd"] = self._path(self._plain(entry.cwd))
        elif self._around.project is not None:
            section["cwd"] = references.escaped(str(self._around.project))
        return section

    def http(self, entry: Entry) -> JsonObject:
        url = self._text(entry.url, "url_secret", secrets.in_url(entry.url))
        headers: JsonObject = {
            key: self._text(text, f"{self._name}_{key}", secrets.in_header(text))
            for key, text in entry.headers.items()
        }
        for key, variable in entry.header_variables.items():
            self._variables.expect(variable, variable)
            headers[key] = f"${{{variable}}}"
        if entry.bearer_variable:
            self._variables.expect(entry.bearer_variable, entry.bearer_variable)
            headers["Authorization"] = f"Bearer ${{{entry.bearer_variable}}}"
        return {"url": url, **({"headers": headers} if headers else {})}

    def _args(self, args: tuple[str, ...]) -> list[Json]:
        found: list[Json] = []
        before = ""
        for each in args:
            spans, told = secrets.in_argument(each, before)
            found.append(self._text(each, told or "secret", spans))
            before = each
        return found

    def _path(self, text: str, *, only_relative: bool = False) -> str:
        """Return a path that begins where the client would have it begin."""
        is_bare = only_relative and "/" not in text
        if is_bare or text.startswith(("/", "~/", "${")) or self._around.project is None:
            return text
        return f"{references.escaped(str(self._around.project))}/{text.removeprefix('./')}"

    def _plain(self, text: str) -> str:
        return self._text(text, "", ())

    def _text(self, text: str, wanted: str, spans: tuple[Span, ...]) -> str:
        """Return a text with its references in our words, and its secrets as references."""
        pieces = references.find(text, self._client.dialect, self._around)
        cuts = [
            *(self._reference(each, spans) if each.variable else each for each in pieces),
            *(self._cut(text, span, wanted) for span in _beside(text, spans, pieces)),
        ]
        made: list[str] = []
        done = 0
        for each in sorted(cuts, key=lambda cut: cut.start):
            made += (references.escaped(text[done : each.start]), each.text)
            done = each.end
        return "".join((*made, references.escaped(text[done:])))

    def _reference(self, piece: Piece, spans: tuple[Span, ...]) -> Piece:
        """Return a reference to what the client gives; a default that is a secret is given too."""
        name = self._variables.expect(piece.variable, piece.source)
        default = references.default_of(piece.text)
        is_secret = default and (
            any(start < piece.end and piece.start < end for start, end in spans)
            or secrets.in_variable(piece.variable, default)
            or secrets.in_argument(default, "")[0]
        )
        said = "" if is_secret else piece.text.removeprefix(f"${{{piece.variable}")[:-1]
        return replace(piece, text=f"${{{name}{said}}}")

    def _cut(self, text: str, span: Span, wanted: str) -> Piece:
        start, end = span
        while text[:start].endswith("$"):  # `$${` would be read as text
            start -= 1
        name = self._variables.keep(wanted, self._name, text[start:end])
        return Piece(start=start, end=end, text=f"${{{name}}}")


def passing(variables: Mapping[str, str], client: Client, timeout_s: float) -> JsonObject:
    """Return the members of the client's one entry that hand the gateway what it is to be given.

    Codex waits ten seconds for a server to start unless it is told otherwise, and for each call as
    long as the most patient of its entries said: `timeout_s`, 0 if none did.
    """
    if client is CODEX:
        handed: JsonObject = {"env_vars": list[Json](sorted(variables))} if variables else {}
        patience: JsonObject = {"tool_timeout_sec": math.ceil(timeout_s)} if timeout_s else {}
        return {**handed, "startup_timeout_sec": _CODEX_START_S, **patience}
    return {"env": dict[str, Json](sorted(variables.items()))} if variables else {}


def _beside(text: str, spans: tuple[Span, ...], pieces: tuple[Piece, ...]) -> Iterator[Span]:
    """Yield the spans without references; of one that holds some, what could be a secret."""
    for start, end in spans:
        within = [each for each in pieces if start < each.end and each.start < end]
        if not within:
            yield start, end
            continue
        starts = [start, *(each.end for each in within)]
        ends = [*(each.start for each in within), end]
        for first, last in zip(starts, ends, strict=True):
            rest = text[first:last]
            if any(each.isalnum() for each in rest) and not rest.startswith("/"):
                yield first, last


def _texts(entry: Entry) -> tuple[str, ...]:
    return (
        entry.command,
        *entry.args,
        *entry.env.values(),
        entry.cwd,
        entry.url,
        *entry.headers.values(),
    )


def _variable(wanted: str) -> str:
    """Return a name of a variable: `GITHUB_TOKEN` of `github-token`; one that is fine stays."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", wanted, re.ASCII):
        return wanted if wanted.isupper() else wanted.upper()
    name = _OTHER.sub("_", wanted).strip("_").upper()[:_LONGEST] or "SECRET"
    return f"S_{name}" if name[0].isdigit() else name


def _duration(seconds: float) -> str:
    return f"{int(seconds)}s" if seconds == int(seconds) else f"{max(1, int(seconds * 1000))}ms"
