"""What was heard in a run of `tests.matrix.tenants`, and whose it was.

Whatever a tenant makes holds its canary. Beside that, every id, handle and state that was given to
a tenant is its own: heard by the other one, which has not said it first, it has leaked as well.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

TENANTS: Final = ("acme", "globex")
WORD: Final = re.compile(rb"canary-(acme|globex)-[0-9a-z]+")
_TOKEN: Final = re.compile(rb"[A-Za-z0-9_.~-]{20,}")
_ULID: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_SEALED: Final = re.compile(r"wb1\.[\w-]+…?")  # a handle, which errors show the beginning of
_NUMBER: Final = re.compile(r"\d+")
# Tries something with an id or handle; whether it was refused, and what was said.
Ask = Callable[[str], Awaitable[tuple[bool, str]]]


def other(tenant: str) -> str:
    """Return the other one of the two."""
    return TENANTS[1 - TENANTS.index(tenant)]


@dataclass
class Side:
    """One tenant."""

    own: Counter[str] = field(default_factory=Counter[str])  # by kind, what came back as it should
    words: int = 0  # its canaries, as often as it heard them
    tokens: set[bytes] = field(default_factory=set[bytes])  # all that it heard that might be an id
    secrets: dict[bytes, str] = field(default_factory=dict[bytes, str])  # given to it: their kinds
    said: set[bytes] = field(default_factory=set[bytes])  # what it guessed


@dataclass
class Report:
    """What was seen; `good` only if all of it was as it has to be."""

    callers: int
    seconds: float = 0.0
    answers: int = 0
    octets: int = 0
    repeats: int = 0  # calls that were told to come back
    sides: dict[str, Side] = field(default_factory=lambda: {each: Side() for each in TENANTS})
    leaks: list[str] = field(default_factory=list[str])
    wrong: list[str] = field(default_factory=list[str])  # any other surprise
    guessed: Counter[str] = field(default_factory=Counter[str])  # by kind
    refused: Counter[str] = field(default_factory=Counter[str])
    expected: Counter[str] = field(default_factory=Counter[str])  # made out beforehand
    plain: dict[str, str] = field(default_factory=dict[str, str])  # answers at what nobody has

    def hears(self, tenant: str, data: bytes) -> None:
        """Search what arrives at somebody of a tenant."""
        side = self.sides[tenant]
        self.answers += 1
        self.octets += len(data)
        for found in WORD.finditer(data):
            if found[1].decode() == tenant:
                side.words += 1
            else:
                around = data[max(found.start() - 80, 0) : found.end() + 40]
                self.leaks.append(f"{tenant} heard {around!r}")
        side.tokens.update(_TOKEN.findall(data))

    def keeps(self, tenant: str, kind: str, secret: str) -> str:
        """Note what a tenant was given for itself; return it."""
        for token in _TOKEN.findall(secret.encode()):
            self.sides[tenant].secrets[token] = kind
        return secret

    def sees(self, tenant: str, kind: str, holds: bool, what: object = "") -> None:
        """Count what came back as it should, or note that it did not."""
        if holds:
            self.sides[tenant].own[kind] += 1
        else:
            self.wrong.append(f"{tenant} {kind}: {str(what)[:400]}")

    async def guesses(
        self, tenant: str, kind: str, theirs: str, invented: str, ask: Ask, *, way: str = ""
    ) -> None:
        """Try something of the other tenant's, and count whether it was refused.

        Refused is only what is answered like an id that there is not, to the letter; that is asked
        for once by each tenant on each `way`.
        """
        self.sides[tenant].said.update(_TOKEN.findall(theirs.encode()))
        name = f"{tenant} {way} {kind}"
        if name not in self.plain:
            self.plain[name] = shape((await ask(invented))[1], invented)
        is_refused, got = await ask(theirs)
        self.guessed[kind] += 1
        if is_refused and shape(got, theirs) == self.plain[name]:
            self.refused[kind] += 1
        else:
            how = "told apart from an invented one" if is_refused else "not refused"
            self.wrong.append(f"{name} {how}: {got[:300]} | {self.plain[name][:300]}")

    def close(self) -> None:
        """Look for what both tenants know, and only one of them may."""
        for tenant in TENANTS:
            mine, theirs = self.sides[tenant], self.sides[other(tenant)]
            for token in mine.tokens & theirs.secrets.keys() - mine.said:
                if token not in mine.secrets:
                    self.leaks.append(f"{tenant} heard {theirs.secrets[token]} {token[:60]!r}")

    @property
    def good(self) -> bool:
        """Whether nothing leaked, all came back, and exactly what was guessed was refused."""
        counted = self.expected == self.guessed == self.refused
        return counted and not self.leaks and not self.wrong

    def __str__(self) -> str:
        """Say it in a few lines."""
        lines = [
            f"2 x {self.callers} callers on each of 3 transports, {self.seconds:.1f} s: "
            f"{self.answers} answers, pages and messages with {self.octets / 1e6:.1f} MB, "
            f"{self.repeats} calls told to come back"
        ]
        for tenant, side in self.sides.items():
            own = ", ".join(f"{many} {kind}" for kind, many in sorted(side.own.items()))
            lines.append(f"{tenant} heard {side.words} canaries of its own: {own}")
        kinds = ", ".join(
            f"{self.refused[kind]} of {many} {kind}" for kind, many in sorted(self.expected.items())
        )
        lines.append(
            f"guesses refused: {self.refused.total()} of {self.guessed.total()}, "
            f"{self.expected.total()} expected: {kinds}"
        )
        lines.append(f"leaks: {len(self.leaks)} {self.leaks[:3]}")
        lines.append(f"wrong: {len(self.wrong)} {self.wrong[:3]}")
        return "\n".join(lines)


def shape(answer: str, named: str) -> str:
    """Return an answer without what differs from one request to the next anyway."""
    plain = _SEALED.sub("NAMED", answer.replace(named, "NAMED"))
    return _NUMBER.sub("0", _ULID.sub("ULID", plain))
