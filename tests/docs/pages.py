"""The pages that people read, as tests look at them: blocks, links, headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*(\S*)\s*$")
_NOTE = re.compile(r"^\s*<!-- (\w+)(?:: (.+))? -->\s*$")
_CODE = re.compile(r"(`+)(?:(?!\1).)+\1")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_REFERENCE = re.compile(r"^\[[^\]]+\]:\s+(\S+)")
_AUTOLINK = re.compile(r"<(https?://[^>\s]+)>")
_HEADING = re.compile(r"^(#{1,6}) +(.+?)(?: +#+)?$")
_TEXT_OF_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block with the comment above it, such as `<!-- check: contract -->`."""

    page: Path
    line: int
    language: str
    text: str
    note: str  # the word of the comment: `check`, `unchecked`, `play`; empty without one
    about: str  # what follows the word

    @property
    def place(self) -> str:
        """Where a reader finds it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link or a picture."""

    page: Path
    line: int
    target: str

    @property
    def place(self) -> str:
        """Where a reader finds it."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_outside(self) -> bool:
        """Whether it leads to another place than the repository."""
        return "://" in self.target or self.target.startswith("mailto:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page holds."""

    path: Path
    blocks: Sequence[Block]
    links: Sequence[Link]
    anchors: frozenset[str]
    prose: str  # all but the blocks


@cache
def page(path: Path) -> Page:
    """Read a page."""
    blocks, prose = _parted(path)
    links = [
        Link(page=path, line=number, target=target)
        for number, line in prose
        for target in _targets(line)
    ]
    text = "\n".join(line for _, line in prose)
    return Page(
        path=path, blocks=blocks, links=links, anchors=frozenset(_anchors(prose)), prose=text
    )


def paths() -> list[Path]:
    """Return every page of the repository that people read."""
    found = [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]
    return sorted([*found, *(ROOT / "examples").rglob("*.md")])


def blocks() -> Iterator[Block]:
    """Yield every block of every page."""
    for path in paths():
        yield from page(path).blocks


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    text = _TEXT_OF_LINK.sub(r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _parted(path: Path) -> tuple[list[Block], list[tuple[int, str]]]:
    """Return the blocks of a page, and its other lines with their numbers."""
    blocks: list[Block] = []
    prose: list[tuple[int, str]] = []
    lines = iter(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    note, about = "", ""
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            prose.append((number, line))
            comment = _NOTE.match(line)
            if comment is not None:
                note, about = comment[1], comment[2] or ""
            elif line.strip():
                note, about = "", ""
            continue
        text = _inside(lines, fence[1], fence[2], f"{path}:{number}")
        blocks.append(
            Block(page=path, line=number, language=fence[3], text=text, note=note, about=about)
        )
        note, about = "", ""
    return blocks, prose


def _inside(lines: Iterator[tuple[int, str]], indent: str, fence: str, place: str) -> str:
    inside: list[str] = []
    for _, line in lines:
        if line.strip() == fence:
            return "".join(f"{each}\n" for each in inside)
        inside.append(line.removeprefix(indent))
    raise AssertionError(f"{place}: a block without an end")


def _targets(line: str) -> Iterator[str]:
    reference = _REFERENCE.match(line)
    if reference is not None:
        yield reference[1]
    plain = _CODE.sub(lambda code: "`" * len(code[0]), line)
    for pattern in (_LINK, _AUTOLINK):
        for found in pattern.finditer(plain):
            yield found[1]
    # A picture that is a link: the inner one is in the text of the outer one.
    for found in re.finditer(r"!\[[^\]]*\]\(([^)\s]+)\)\]\(", plain):
        yield found[1]


def _anchors(prose: Sequence[tuple[int, str]]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for _, line in prose:
        for named in re.finditer(r"<a (?:id|name)=\"([^\"]+)\"", line):
            yield named[1]
        heading = _HEADING.match(line)
        if heading is None:
            continue
        anchor = slug(heading[2])
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        yield f"{anchor}-{count}" if count else anchor
