"""Contract files as a person keeps them: drafts are added, pins renewed, the rest left alone."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gateway import yamltext
from gateway.config.folders import yaml_below
from gateway.contracts import files, writing
from gateway.contracts.draft import draft
from gateway.contracts.pins import pinned
from gateway.errors import FileError
from gateway.types.tools import Contract, Tool

_EMPTY: Final = re.compile(r"^tools:[ \t]*\{[ \t]*\}([ \t]*(?:#.*)?)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What happened to one tool's contract."""

    tool: str
    change: str  # drafted | renewed | reviewed
    file: Path
    reasons: tuple[str, ...] = ()


def pin(
    folder: Path, tools: Sequence[Tool], names: Iterable[str] = (), *, reviewed: bool = False
) -> tuple[Pinned, ...]:
    """Draft contracts for tools that have none; renew those that are named.

    A renewed contract keeps everything that a person wrote about the tool: naming it is the review
    of its new definition. With `reviewed`, drafts of what the servers still publish count as
    reviewed, old ones too. Quarantined tools are left out, since nothing could be enforced. Raises
    FileError for files that can't be read.
    """
    wanted = frozenset(names)
    known = contracts(folder)
    done: list[Pinned] = []
    drafts: dict[str, list[Tool]] = {}
    for tool in tools:
        if tool.quarantine is not None or (wanted and tool.key not in wanted):
            continue
        if tool.key not in known:
            drafts.setdefault(tool.server, []).append(tool)
            continue
        path, contract = known[tool.key]
        if reviewed and not contract.reviewed and contract.pin == tool.pin:
            _mark(path, tool.key)
            done.append(Pinned(tool=tool.key, change="reviewed", file=path))
        elif wanted:
            renewed = replace(
                contract,
                pin=tool.pin,
                definition=pinned(tool.definition),
                reviewed=contract.reviewed or reviewed,
            )
            _replace(path, renewed)
            done.append(Pinned(tool=tool.key, change="renewed", file=path))
    for server, found in sorted(drafts.items()):
        done += _add(folder / f"{server}.yaml", found, reviewed=reviewed)
    return tuple(done)


def contracts(folder: Path) -> dict[str, tuple[Path, Contract]]:
    """Return every contract below a folder with the file it stands in."""
    return {
        contract.tool: (path, contract)
        for path in yaml_below(folder)
        for contract in files.load(read(path), file=str(path))
    }


def read(path: Path) -> str:
    """Return the text of a contract file; raises FileError for one that can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"can't be read: {error}", file=str(path)) from error


def with_drafts(text: str, tools: Sequence[Tool], *, reviewed: bool = False) -> str:
    """Return the text of a contract file with drafts behind what is there; empty: a new file."""
    made = [draft(tool) for tool in sorted(tools, key=lambda tool: tool.key)]
    entries = [replace(each.contract, reviewed=reviewed) for each in made]
    reasons = {each.contract.tool: each.reasons for each in made}
    new = writing.dump(entries, reasons=reasons)
    if not text:
        return new
    return _EMPTY.sub(r"tools:\1", text).rstrip("\n") + "\n" + _body(new)


def _add(path: Path, tools: Sequence[Tool], *, reviewed: bool) -> list[Pinned]:
    text = with_drafts(read(path) if path.exists() else "", tools, reviewed=reviewed)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, text)
    made = [draft(tool) for tool in sorted(tools, key=lambda tool: tool.key)]
    return [
        Pinned(tool=each.contract.tool, change="drafted", file=path, reasons=tuple(each.reasons))
        for each in made
    ]


def _mark(path: Path, tool: str) -> None:
    """Set `reviewed: true` in one entry, and leave every other letter of the file."""
    text = read(path)
    line, column = yamltext.load(text, file=str(path)).place(("tools", tool, "reviewed"))
    lines = text.splitlines(keepends=True)
    said = lines[line - 1]
    end = column - 1 + len("false")  # nothing else makes an entry unreviewed
    lines[line - 1] = f"{said[: column - 1]}true{said[end:]}"
    write(path, "".join(lines))


def _replace(path: Path, contract: Contract) -> None:
    """Write one entry anew in its place; comments and entries around it stay as they are."""
    text = read(path)
    document = yamltext.load(text, file=str(path))
    lines = text.splitlines(keepends=True)
    first, _ = document.key_place(("tools", contract.tool))
    names = [known.tool for known in files.load(text, file=str(path))]
    starts = [document.key_place(("tools", name))[0] for name in names]
    after = min((line for line in starts if line > first), default=len(lines) + 1)
    while after - 2 >= first and lines[after - 2].lstrip().startswith(("#", "\n")):
        after -= 1  # what stands above the next entry belongs to it
    entry = _body(writing.dump([contract]))
    write(path, "".join(lines[: first - 1]) + entry + "".join(lines[after - 1 :]))


def _body(text: str) -> str:
    """Return the entries of a written file, without its head."""
    return text.partition("\ntools:\n")[2].rstrip("\n") + "\n"


def write(path: Path, text: str) -> None:
    """Replace a file as a whole: a reload never sees half of it."""
    files.load(text, file=str(path))  # never leave a file behind that can't be read
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
