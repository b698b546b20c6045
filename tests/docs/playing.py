"""A page played as a reader would: files are saved, commands typed, and what they say is compared.

A comment above a block says how: `file: PATH` saves it, `play: background` lets it run on,
`play: until` types it again until it says what the page says, `play: slow` and `play: install` are
for `scripts/e2e`. Ids on the page stand for those of the play.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from tests.docs.pages import Block

WITHIN_S: Final = 300
# What differs from play to play: ids, and the digits of digests.
_TOKEN: Final = re.compile(r"\b(?:(?:apr|call|op|run)_[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8})\b")
_SKIPPED: Final = frozenset({"slow", "install"})


class Ended(Protocol):
    """A command that ran to its end."""

    @property
    def stdout(self) -> str:
        """What it wrote."""
        ...

    @property
    def stderr(self) -> str:
        """What it complained about."""
        ...


class Running(Protocol):
    """A command that goes on while others are typed."""

    def send_signal(self, number: int, /) -> None:
        """Send it a signal."""
        ...


@dataclass(frozen=True, kw_only=True)
class Weighbridge:
    """How the command itself is run: with all words, to its end or beside the others."""

    ran: Callable[[Sequence[str]], Ended]
    begun: Callable[[Sequence[str], Path], Running]


@dataclass(kw_only=True)
class Play:
    """One reader at one page."""

    folder: Path
    environ: Mapping[str, str]
    command: Weighbridge
    stands_for: dict[str, str] = field(default_factory=dict[str, str])  # of the page: of the play
    skipped: frozenset[str] = _SKIPPED
    checkout: Path | None = None  # where blocks are typed that install
    saved: Callable[[str, str], str] = lambda path, text: text  # what a file gets beside
    _beside: list[tuple[Block, str, Running, Path]] = field(
        default_factory=list[tuple[Block, str, Running, Path]]
    )

    def through(self, blocks: Sequence[Block]) -> None:
        """Play all blocks; raises AssertionError with the place where it went otherwise."""
        try:
            for block in blocks:
                self._block(block)
        finally:
            for _, _, running, _ in reversed(self._beside):
                running.send_signal(signal.SIGINT)
                if isinstance(running, subprocess.Popen):
                    running.wait(30)
        for block, expected, _, said in self._beside:
            end = time.monotonic() + WITHIN_S
            while not self._is(expected, said.read_text()) and time.monotonic() < end:
                time.sleep(0.2)
            self._compare(block, expected, said.read_text())

    def _block(self, block: Block) -> None:
        if block.note == "file":
            path = self.folder / block.about
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._played(self.saved(block.about, block.text)), encoding="utf-8")
        if block.language != "console" or block.about in self.skipped or block.note == "unchecked":
            return
        for typed, expected in steps(block.text):
            if block.about == "background":
                self._start(block, typed, expected)
            elif block.about == "install" and not expected:
                self._type(typed, self.checkout)  # what an installer says is its own affair
            elif block.about == "until":
                self._compare(block, expected, self._until(typed, expected))
            else:
                self._compare(block, expected, self._type(typed))

    def _until(self, typed: str, expected: str) -> str:
        """Type a line again and again, until it says what it should or the time is over."""
        end = time.monotonic() + WITHIN_S
        while not self._is(expected, said := self._type(typed)) and time.monotonic() < end:
            time.sleep(0.2)
        return said

    def _type(self, typed: str, folder: Path | None = None) -> str:
        """Run a line to its end, and return what a terminal would show."""
        line = self._played(typed)
        words = shlex.split(line)
        if words[0] == "weighbridge" and not set(words) & {"|", "&&", ">"}:
            done = self.command.ran(words[1:])
        else:
            done = subprocess.run(
                ["bash", "-c", line],
                check=False,  # a refusal is what some pages show
                cwd=folder or self.folder,
                env=dict(self.environ),
                capture_output=True,
                text=True,
                timeout=WITHIN_S,
            )
        return done.stdout + done.stderr

    def _start(self, block: Block, typed: str, expected: str) -> None:
        said = self.folder.parent / f"said-{block.line}"
        said.touch()
        words = shlex.split(self._played(typed))
        if words[0] == "weighbridge":
            running: Running = self.command.begun(words[1:], said)
        else:
            with said.open("ab") as file:
                running = subprocess.Popen(
                    words, cwd=self.folder, env=dict(self.environ), stdout=file, stderr=file
                )
        self._beside.append((block, expected, running, said))

    def _is(self, expected: str, said: str) -> bool:
        """Compare, and learn what the ids of the page stand for."""
        names: list[str] = []
        pattern = "".join(self._line(line, names) for line in expected.splitlines())
        found = re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in said.splitlines()))
        if found is not None:
            self.stands_for |= dict(zip(names, found.groups(), strict=True))
        return found is not None

    def _compare(self, block: Block, expected: str, said: str) -> None:
        assert self._is(expected, said), (
            f"{block.place}: the page says\n{expected}\nand it said\n{said}"
        )

    def _line(self, line: str, names: list[str]) -> str:
        """Return the pattern of a line; `…` stands for anything, and alone for any lines."""
        if line.strip() == "…":
            return r"(?:.*\n)*?"
        pattern, at = "", 0
        for token in _TOKEN.finditer(line):
            pattern += _text(self._played(line[at : token.start()]))
            known = self.stands_for.get(token[0])
            if known is None and token[0] not in names:
                names.append(token[0])
                pattern += f"({_like(token[0])})"
            else:
                pattern += _like(token[0]) if known is None else re.escape(known)
            at = token.end()
        return pattern + _text(self._played(line[at:])) + r"\n"

    def _played(self, text: str) -> str:
        for name, value in self.stands_for.items():
            text = text.replace(name, value)
        return text


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with what it says."""
    typed, said = "", ""
    for line in text.splitlines():
        if line.startswith("$ "):
            if typed:
                yield typed, said
            typed, said = line[2:], ""
        else:
            said += f"{line}\n"
    yield typed, said


def _text(text: str) -> str:
    parts = [re.escape(part) for part in text.split("…")]
    return re.sub(r"(?:\\ )+", r"\\s+", ".*".join(parts))


def _like(token: str) -> str:
    kind, _, _ = token.partition("_")
    return rf"{kind}_[0-9A-Z]{{26}}" if "_" in token else rf"[0-9a-f]{{{len(token)}}}"


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a reader who has activated the environment of this Python."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    return {"HOME": str(home), "PATH": programs, "LANG": "C.UTF-8", "COLUMNS": "200"}
