"""`weighbridge tools review`: drafts and changed definitions, one by one, in the terminal."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final, TypeVar

import click

from gateway.actions import reviewing, revisions
from gateway.actions.called import Called, called
from gateway.actions.reviewing import Edits, Item
from gateway.app.inspect import Inspection
from gateway.cli import disclosing, offers, opening, output, review_showing
from gateway.cli.flags import config_option, json_option
from gateway.cli.options import load, relative
from gateway.clock import SystemClock
from gateway.config.load import Loaded
from gateway.config.terms import terms
from gateway.errors import FileError
from gateway.revision import Unreviewed
from gateway.types.json import Json, JsonPointer
from gateway.types.tools import Effect, Risk, Sensitivity

_T = TypeVar("_T")
_Word = TypeVar("_Word", bound=StrEnum)

_ASK: Final = "a accept, c change, d whole definition, s skip, q quit"
_NOT_THERE: Final = "nobody is there to be asked; name what to accept with `--accept`, or list what"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What is reviewed, and where."""

    loaded: Loaded
    items: Sequence[Item]
    calls: Mapping[str, Called]

    @property
    def folder(self) -> Path:
        """The folder of contracts."""
        return self.loaded.settings.policies / "contracts"


@click.command("review", epilog="Example: weighbridge tools review crm.delete_user")
@click.argument("names", nargs=-1)
@config_option
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="NAME",
    help="Accept this tool as it is, without a question; may be repeated.",
)
@json_option
def review_tools(
    names: tuple[str, ...], path: Path, accepted: tuple[str, ...], as_json: bool
) -> None:
    """Walk drafts and changed definitions one by one: accept, change, skip.

    Each is shown with its definition, hidden characters written out, with what was guessed and
    why, and with the calls that the log has of it. What is accepted is written at once, in place,
    once the folder with it can be used; what is skipped stays. With NAMES only these. Without a
    terminal, --accept names what to accept, and --json lists what waits.
    """
    loaded = load(path)
    found = offers.inspected(loaded, path)
    review = _review(loaded, path, found, (*names, *accepted))
    if accepted:
        _accept_all(review, accepted, as_json=as_json)
        return
    if as_json:
        waiting: list[Json] = [
            review_showing.as_json(item, review.calls.get(item.tool.key)) for item in review.items
        ]
        output.as_json(waiting)
        return
    _tell_others(found)
    if not review.items:
        output.line("nothing waits for a review")
        return
    if not _is_terminal():
        output.fail(f"{_NOT_THERE} waits with `--json`")
    _walk(review)


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def _review(loaded: Loaded, path: Path, found: Inspection, names: Sequence[str]) -> Review:
    published = {tool.key: tool for tool in found.tools}
    for name in names:
        if name not in published:
            output.fail(f"no server publishes `{name}`; see `weighbridge tools list`")
        if published[name].quarantine is not None:
            output.fail(
                f"`{name}` can't be enforced: {offers.reason(published[name])}; "
                "tell its server's author"
            )
    folder = loaded.settings.policies / "contracts"
    items = opening.fine(lambda: reviewing.to_review(folder, found.tools, names))
    waiting = {item.tool.key for item in items}
    for name in names:
        if name not in waiting:
            output.fail(f"`{name}` is reviewed already, as it is published now")
    return Review(loaded=loaded, items=items, calls=_calls(path, loaded, waiting))


def _calls(path: Path, loaded: Loaded, tools: set[str]) -> Mapping[str, Called]:
    """Return what the log has of calls; nothing where there is no log yet."""
    url = loaded.settings.store.url
    is_new = url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists()
    if is_new or not tools:
        return {}

    async def count() -> Mapping[str, Called]:
        async with opening.opened(path) as store:
            named: list[Json] = [*sorted(tools)]
            await disclosing.told(store, "tools review", {"tools": named})
            return await called(store.events, tools)

    return opening.run(count)


def _tell_others(found: Inspection) -> None:
    for tool in found.tools:
        if tool.quarantine is not None:
            output.one_line(f"{tool.key} can't be reviewed: {offers.reason(tool)}")


def _accept_all(review: Review, names: Sequence[str], *, as_json: bool) -> None:
    items = {item.tool.key: item for item in review.items}
    done: list[Json] = []
    for name in dict.fromkeys(names):
        opening.fine(lambda name=name: _accept(review, items[name], Edits()))
        done.append({"tool": name, "file": str(items[name].path)})
        if not as_json:
            output.one_line(f"reviewed  {name}  in {relative(items[name].path)}")
    if as_json:
        output.as_json(done)


# --- the walk -----------------------------------------------------------------------------------


def _walk(review: Review) -> None:
    accepted = 0
    for number, item in enumerate(review.items, 1):
        output.line()
        output.one_line(f"[{number}/{len(review.items)}]")
        for line in review_showing.lines(item, review.calls.get(item.tool.key)):
            output.one_line(line)
        taken = _decided(review, item)
        if taken is None:
            break
        accepted += taken
    left = len(review.items) - accepted
    many = "1 tool" if accepted == 1 else f"{accepted} tools"
    output.line(f"{many} accepted, {left} still to review" if left else f"{many} accepted")


def _decided(review: Review, item: Item) -> bool | None:
    """Ask until one tool is accepted or skipped; None: he has had enough."""
    edits = Edits()
    while True:
        match _asked(_ASK, ("a", "c", "d", "s", "q")):
            case "a":
                try:
                    _accept(review, item, edits)
                except FileError as error:
                    output.one_line(f"not written: {error}")
                    continue
                output.one_line(f"reviewed, in {relative(item.path)}")
                return True
            case "c":
                edits = _changed(item, edits)
                for line in review_showing.entry(item, edits):
                    output.one_line(line)
            case "d":
                for line in review_showing.whole(item):
                    output.one_line(line)
            case "s":
                return False
            case _:
                return None


def _asked(question: str, answers: Sequence[str]) -> str:
    """Return one of some answers; who hangs up has had enough."""
    try:
        return str(click.prompt(question, type=click.Choice(answers), show_choices=False)).strip()
    except click.Abort:
        output.line()
        return "q"


def _changed(item: Item, edits: Edits) -> Edits:
    """Ask for each thing that a person may want otherwise; an empty answer leaves it."""
    contract = item.contract
    try:
        effect = _one_of("effect", Effect, edits.effect or contract.effect)
        risk = _one_of("risk", Risk, edits.risk or contract.risk)
        sensitive = _sensitive(contract.sensitive if edits.sensitive is None else edits.sensitive)
        intent = _intent(item.intent if edits.intent is None else edits.intent or None)
    except click.Abort:
        output.line()
        return edits
    return Edits(
        effect=_if_other(effect, contract.effect),
        risk=_if_other(risk, contract.risk),
        sensitive=_if_other(sensitive, contract.sensitive),
        intent=None if intent == item.intent else intent or (),
    )


def _one_of(name: str, kind: type[_Word], now: _Word) -> _Word:
    choice = click.Choice([each.value for each in kind])
    return kind(click.prompt(name, type=choice, default=now.value))


def _if_other(new: _T, old: _T) -> _T | None:
    return None if new == old else new


def _sensitive(
    before: Mapping[JsonPointer, Sensitivity],
) -> Mapping[JsonPointer, Sensitivity]:
    """Ask for the arguments that are secret or personal, all in one line."""
    shown = " ".join(f"{place}={kind.value}" for place, kind in before.items()) or "none"
    while True:
        said = str(click.prompt("sensitive, as /path=secret or /path=personal", default=shown))
        found: dict[JsonPointer, Sensitivity] = {}
        wrong = ""
        for word in said.split() if said.strip() != "none" else []:
            place, _, kind = word.rpartition("=")
            if not place.startswith("/") or kind not in {*Sensitivity}:
                wrong = wrong or word
            else:
                found[place] = Sensitivity(kind)
        if not wrong:
            return found
        output.one_line(f"`{wrong}` is no argument with its kind; write it like /email=personal")


def _intent(before: tuple[JsonPointer, ...] | None) -> tuple[JsonPointer, ...] | None:
    """Ask which arguments make two calls the same; None stands for all of them."""
    shown = " ".join(before) if before else "all"
    while True:
        said = str(click.prompt("two calls are the same by, as /path /path", default=shown))
        if said.strip() == "all":
            return None
        places = tuple(said.split())
        if places and all(place.startswith("/") for place in places):
            return places
        output.one_line("write the paths of arguments, like /order_id /amount; or `all`")


# --- what is written ----------------------------------------------------------------------------


def _accept(review: Review, item: Item, edits: Edits) -> None:
    reviewing.accept(item, edits, _problems(review))


def _problems(review: Review) -> Callable[[Path, str], str]:
    """Return what says why the policy folder could not be used with another text of one file.

    Nothing is said of what keeps it from being used already.
    """
    settings = review.loaded.settings

    def built(folder: revisions.Folder) -> str:
        return revisions.build(
            folder,
            unreviewed=Unreviewed(settings.contracts.unreviewed),
            at=SystemClock().now(),
            prefix=f"{settings.policies}/",
            servers=settings.servers,
            terms=terms(settings),
        ).problem

    def problem(path: Path, text: str) -> str:
        before = revisions.read(settings.policies)
        name = str(PurePosixPath(path.relative_to(settings.policies)))
        after = replace(before, contracts={**before.contracts, name: text})
        said = built(after)
        return said if said and said != built(before) else ""

    return problem
