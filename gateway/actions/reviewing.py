"""What waits for a person's review, one tool at a time, and the file with his word in it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.actions import pinning
from gateway.contracts import files
from gateway.contracts.diff import Change, diff
from gateway.contracts.draft import draft
from gateway.contracts.editing import with_key
from gateway.contracts.guess import Guess
from gateway.contracts.pins import pinned
from gateway.contracts.standing import Standing, standing
from gateway.errors import FileError
from gateway.types.json import Json, JsonPointer
from gateway.types.tools import Contract, Effect, Risk, Sensitivity, Tool

_WAITING = frozenset({Standing.UNREVIEWED, Standing.NO_CONTRACT, Standing.CHANGED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One tool, and the contract that it would have if it were accepted as it is."""

    tool: Tool
    standing: Standing
    contract: Contract
    path: Path  # of the file that the entry stands in, or would
    guesses: tuple[Guess, ...]  # what a draft of its definition says, and why
    changes: tuple[Change, ...] = ()  # of the definition since it was pinned

    @property
    def intent(self) -> tuple[JsonPointer, ...] | None:
        """The arguments by which two calls are the same; None: all of them."""
        return self.contract.idempotency.intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What a person would have otherwise; None: as it is."""

    effect: Effect | None = None
    risk: Risk | None = None
    sensitive: Mapping[JsonPointer, Sensitivity] | None = None
    intent: tuple[JsonPointer, ...] | None = None  # empty: all arguments

    def members(self) -> dict[str, Json]:
        """Return the keys of the entry that change; None takes one out."""
        found: dict[str, Json] = {}
        if self.effect is not None:
            found["effect"] = self.effect.value
        if self.risk is not None:
            found["risk"] = self.risk.value
        if self.sensitive is not None:
            places = {place: kind.value for place, kind in self.sensitive.items()}
            found["sensitive"] = {**places} or None
        if self.intent is not None:
            found["idempotency.intent"] = [*self.intent] or None
        return found


def to_review(folder: Path, tools: Sequence[Tool], names: Collection[str] = ()) -> tuple[Item, ...]:
    """Return what waits: tools without a contract, drafts, and definitions that changed.

    With `names` only those. Raises FileError for contracts that can't be read.
    """
    known = pinning.contracts(folder)
    found: list[Item] = []
    for tool in sorted(tools, key=lambda each: each.key):
        path, contract = known.get(tool.key, (folder / f"{tool.server}.yaml", None))
        how = standing(tool, contract)
        if how not in _WAITING or (names and tool.key not in names):
            continue
        made = draft(tool)
        moved = contract is not None and contract.pin != tool.pin
        found.append(
            Item(
                tool=tool,
                standing=how,
                contract=contract or made.contract,
                path=path,
                guesses=made.guesses,
                changes=diff(contract.definition, tool.definition) if contract and moved else (),
            )
        )
    return tuple(found)


def accept(item: Item, edits: Edits, problem: Callable[[Path, str], str]) -> None:
    """Write that a person has reviewed a tool, with what he would have otherwise, whole or not.

    `problem` says why a file with this text could not be used. Raises FileError, and leaves the
    file as it was, for that as well, and where somebody else has changed the entry meanwhile.
    """
    text = _reviewed(item, edits)
    said = problem(item.path, text)
    if said:
        raise FileError(f"with that, {said}", file=str(item.path))
    item.path.parent.mkdir(parents=True, exist_ok=True)
    pinning.write(item.path, text)


def _reviewed(item: Item, edits: Edits) -> str:
    file, tool = str(item.path), item.tool
    text = pinning.read(item.path) if item.path.exists() else ""
    entries = {each.tool: each for each in files.load(text, file=file)} if text else {}
    members: dict[str, Json] = {**edits.members(), "reviewed": True}
    written = entries.get(tool.key)
    if written is None and item.standing is Standing.NO_CONTRACT:
        text = pinning.with_drafts(text, [tool])
    elif written is None or written.pin != item.contract.pin:
        raise FileError(f"`{tool.key}` was changed there meanwhile; begin anew", file=file)
    elif written.pin != tool.pin:
        members |= {"pin": tool.pin, "definition": pinned(tool.definition)}
    for key, value in members.items():
        text = with_key(text, tool.key, key, value, file=file)
    return text
