"""Values to try for arguments, made of what expressions hold them against."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_network
from itertools import product
from typing import Final

from gateway.policy.exemplars import of_regex
from gateway.policy.mentions import Mentions

MOST: Final = 24  # values of one argument
_LONGEST: Final = 4_000  # characters of a text that is to have a length
_SOME: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who calls, as far as expressions may hold arguments against it."""

    tenants: tuple[str, ...]
    users: tuple[str, ...]
    clients: tuple[str, ...]
    fields: tuple[str, ...]  # values that fields of a run have
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What to try for one argument, whatever its type; the likeliest first."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()
    lengths: tuple[int, ...] = ()


def pool(found: Iterable[Mentions], people: People) -> Pool:
    """Return what to try for an argument that these expressions name."""
    every = tuple(found)
    texts = dict.fromkeys(text for each in every for text in _texts(each, people))
    numbers = dict.fromkeys(
        number + step for each in every for number in each.numbers for step in (0, 1, -1)
    )
    lengths = dict.fromkeys(
        round(number) + step
        for each in every
        if "size" in each.calls
        for number in each.numbers
        for step in (0, 1, -1)
        if 0 <= number + step <= _LONGEST
    )
    return Pool(texts=tuple(texts), numbers=tuple(numbers), lengths=tuple(lengths))


def _texts(said: Mentions, people: People) -> Iterator[str]:
    named = [*_named(said, people)]
    words = [each for each in said.words if each not in said.patterns]
    plain = [*words, *named]
    yield from plain
    if "+" in said.calls:
        joined = [*_joined(words[:_SOME], named[:_SOME])]
        yield from joined
        plain += joined
    yield from (text for each in said.patterns if (text := of_regex(each)) is not None)
    for function, made in _MADE_FOR.items():
        if function in said.calls:
            for each in plain:
                yield from made(each)
    if "sql_reads_only" in said.calls:
        yield from ("select 1", "delete from t")
    if said.speaks_of("now") or "timestamp" in said.calls:
        for step in (timedelta(), timedelta(days=1), timedelta(days=-1)):
            yield (people.now + step).isoformat().replace("+00:00", "Z")


def _named(said: Mentions, people: People) -> Iterator[str]:
    if said.speaks_of("identity.tenant"):
        yield from people.tenants
    if said.speaks_of("identity.user"):
        yield from people.users
    if said.speaks_of("identity.client"):
        yield from people.clients
    if said.speaks_of("run"):
        yield from people.fields


def _joined(words: Sequence[str], named: Sequence[str]) -> Iterator[str]:
    for word, name in product(words, named):
        yield name + word
        yield word + name
    for before, name, after in product(words[:2], named[:2], words[:2]):
        yield before + name + after


def _addresses(word: str) -> Iterator[str]:
    try:
        network = ip_network(word, strict=False)
    except ValueError:
        return
    yield str(network.network_address)
    yield "192.0.2.1" if network.version == 4 else "2001:db8::1"  # of documentation, RFC 5737


_MADE_FOR: Final[Mapping[str, Callable[[str], Iterable[str]]]] = {
    "email_domain": lambda word: (f"a@{word}",),
    "url_host": lambda word: (f"https://{word}/x",),
    "path_under": lambda word: (f"{word}/x", f"{word}/../x"),
    "ip_in": _addresses,
    "startsWith": lambda word: (f"{word}x",),
    "endsWith": lambda word: (f"x{word}",),
    "contains": lambda word: (f"x{word}x",),
    "lowerAscii": lambda word: (word.upper(),),
    "upperAscii": lambda word: (word.lower(),),
}
