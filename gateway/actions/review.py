"""The review of a change of policy: for a terminal, for a comment at a change, for programs."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from typing import Final

from gateway import jsontext
from gateway.actions.comparing import Comparison
from gateway.contracts.changes import ContractChange
from gateway.policy.axes import NOW
from gateway.policy.impact import Cause, Group
from gateway.policy.methods import USE
from gateway.policy.probes import Probe
from gateway.results import marks
from gateway.revision import Revision
from gateway.types.calls import AuthMethod, Method
from gateway.types.causes import Cause as Why
from gateway.types.json import Json, JsonObject
from gateway.types.leans import Lean
from gateway.types.runs import Phase

NO_PROOF: Final = (
    "a search over made-up calls, no proof: what none of them shows may differ all the same"
)
_MOST: Final = 40  # groups of one kind that people are shown
_MOST_TEXT: Final = 20_000  # characters of the diff of texts in a comment
_LONGEST: Final = 400  # characters of the arguments of an example
_LONGEST_TEXT: Final = 60  # and of each text in them, of which then so much is shown
_HEAD: Final = 8


def text(found: Comparison, *, texts: bool = True) -> str:
    """Render for a terminal: what grants more first, each with its smallest example."""
    lines = [_head(found)]
    for title, groups in _sections(found):
        lines.append(title)
        for group in groups[:_MOST]:
            lines += [f"  {each}" for each in _lines(group)]
        lines += _left(len(groups), "  ")
    if found.contracts:
        lines.append("CONTRACTS")
        lines += [f"  {_contract(change)}" for change in found.contracts[:_MOST]]
        lines += _left(len(found.contracts), "  ")
    lines += [*_caveats(found)]
    diff = _diff(found) if texts else ""
    return "\n".join([*lines, *(["", diff] if diff else [])])


def markdown(found: Comparison, *, texts: bool = True) -> str:
    """Render for a comment: tables, and the diff of the texts folded beside them."""
    lines = [f"### Policy: {_escaped(_head(found))}", ""]
    for title, groups in _sections(found):
        lines += [f"**{title.capitalize()}**", "", *_table(groups[:_MOST])]
        lines += [*_left(len(groups), ""), ""]
    if found.contracts:
        lines += ["**Contracts**", "", "| | tool | change | |", "| --- | --- | --- | --- |"]
        for change in found.contracts[:_MOST]:
            places = f"{_code(change.before)} → {_code(change.after)}"
            cells = (change.lean.value, _code(change.tool), _escaped(change.what), places)
            lines.append(f"| {' | '.join(cells)} |")
        lines += [*_left(len(found.contracts), ""), ""]
    lines += [f"- {_escaped(each)}" for each in _caveats(found)]
    diff = _diff(found) if texts else ""
    if diff:
        fence = "`" * max(3, _longest_run(diff) + 1)
        shown = diff if len(diff) <= _MOST_TEXT else diff[:_MOST_TEXT] + "\n…"
        lines += ["", "<details><summary>Texts</summary>", ""]
        lines += [f"{fence}diff", shown, fence, "", "</details>"]
    return "\n".join(lines)


def to_json(found: Comparison) -> JsonObject:
    """Render for programs: everything."""
    return {
        "before": found.before.id,
        "after": found.after.id,
        "requests": found.impact.requests,
        "differing": found.impact.differing,
        "complete": not found.impact.is_cut,
        "is_proof": False,
        "wider": sum(1 for _ in _leaning(found, Lean.WIDER)),
        "narrower": sum(1 for _ in _leaning(found, Lean.NARROWER)),
        "other": sum(1 for _ in _leaning(found, Lean.OTHER)),
        "groups": [_group_json(group) for group in found.impact.groups],
        "contracts": [
            {
                "tool": each.tool,
                "change": each.what,
                "lean": each.lean.value,
                "before": each.before,
                "after": each.after,
            }
            for each in found.contracts
        ],
        "unmet": list[Json](found.impact.unmet),
        "untried": list[Json](found.impact.untried),
        "texts": _diff(found),
    }


def summary(found: Comparison) -> JsonObject:
    """Return the counts of a change, for an event."""
    return {
        "requests": found.impact.requests,
        **{lean.value: sum(1 for _ in _leaning(found, lean)) for lean in Lean},
    }


def _leaning(found: Comparison, lean: Lean) -> Iterator[Group | ContractChange]:
    yield from found.impact.leaning(lean)
    yield from (change for change in found.contracts if change.lean is lean)


def _head(found: Comparison) -> str:
    impact = found.impact
    return (
        f"{_short(found.before)} → {_short(found.after)}: {impact.requests:,} generated calls, "
        f"{impact.differing:,} differ"
    )


def _short(revision: Revision) -> str:
    return revision.id.removeprefix("sha256:")[:12]


def _sections(found: Comparison) -> Iterator[tuple[str, Sequence[Group]]]:
    groups = found.impact.groups
    for lean in (Lean.WIDER, Lean.NARROWER):
        some = [each for each in groups if each.cause.is_decision and each.cause.lean is lean]
        if some:
            yield lean.value.upper(), some
    rest = [each for each in groups if not each.cause.is_decision]
    if rest:
        yield "SAME DECISION, OTHER EFFECT", rest
    if not groups:
        yield "NO CALL IS DECIDED ANOTHER WAY", []


def _lines(group: Group) -> Iterator[str]:
    cause = group.cause
    if cause.is_decision:
        yield f"{_about(cause)}: {_change(cause)}  x{group.count}"
    else:
        said = f"{_about(cause)}: {cause.after} {_named(cause.after_rule)}"
        yield f"{cause.lean.value:<8}  {said}  x{group.count}"
        yield from (f"    {each.what}" for each in cause.differs)
    if group.before_place or group.after_place:
        yield f"    {group.before_place or '–'} → {group.after_place or '–'}"
    yield f"    e.g. {example(group.example)}"


def _about(cause: Cause) -> str:
    method = Method(cause.method)
    return cause.target if method is USE[cause.kind] else f"{cause.method} of {cause.target}"


def _change(cause: Cause) -> str:
    before, after = _named(cause.before_rule), _named(cause.after_rule)
    return f"{cause.before} {before} → {cause.after} {after}"


def _named(rule: str) -> str:
    return rule if rule.startswith("(") else f"({rule})"


def example(probe: Probe) -> str:
    """Return a request on one line; what is as always is left out."""
    parts = [
        f"roles={','.join(probe.roles) or 'none'}",
        f"scopes={','.join(probe.scopes) or 'none'}",
        f"tenant={probe.tenant}",
        f"phase={probe.phase}",
    ]
    unusual: Sequence[tuple[str, str, str]] = (
        ("server", probe.target.server, probe.target.key.partition(".")[0]),
        ("user", probe.user, "somebody"),
        ("client", probe.client, "client"),
        ("authenticated_by", probe.authenticated_by, AuthMethod.JWT),
        ("cause", probe.cause, Why.CALLER),
        ("now", probe.now.isoformat(), NOW.isoformat()),
    )
    parts += [f"{name}={value}" for name, value, usual in unusual if value != usual]
    if probe.phase is Phase.ACTING:
        parts.remove(f"phase={probe.phase}")
    if probe.run is not None:
        parts.append(f"run={_json(probe.run.model_dump(mode='json', exclude_defaults=True))}")
    if probe.arguments:
        parts.append(f"args={_json(_shortened(probe.arguments))}")
    return " ".join(parts)


def _shortened(value: Json) -> Json:
    """Return a value with long texts cut: made-up ones are of one letter all along."""
    match value:
        case str() if len(value) > _LONGEST_TEXT:
            return f"{value[:_HEAD]}… ({len(value)} characters)"
        case list():
            return [_shortened(each) for each in value]
        case dict():
            return {name: _shortened(each) for name, each in value.items()}
        case _:
            return value


def _json(value: Json) -> str:
    written = jsontext.dump(value).decode()
    return written if len(written) <= _LONGEST else written[: _LONGEST - 1] + "…"


def _contract(change: ContractChange) -> str:
    places = f"{change.before or '–'} → {change.after or '–'}"
    return f"{change.lean.value:<8}  {change.tool}: {change.what}  ({places})"


def _left(count: int, indent: str) -> list[str]:
    return [f"{indent}and {count - _MOST} more; --json has all"] if count > _MOST else []


def _caveats(found: Comparison) -> Iterator[str]:
    yield NO_PROOF
    if found.impact.is_cut:
        yield "not all was tried: --requests lets more be"
    if found.impact.unmet:
        yield f"no call met {_list(found.impact.unmet)}: of these rules nothing is known"
    if found.impact.untried:
        yield f"no arguments could be made for {_list(found.impact.untried)}"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(f"`{name}`" for name in names[:_MOST]) + more


def _diff(found: Comparison) -> str:
    old, new = found.before.texts, found.after.texts
    lines: list[str] = []
    for name in sorted({*old, *new}):
        before, after = old.get(name, "").splitlines(), new.get(name, "").splitlines()
        lines += unified_diff(before, after, f"old/{name}", f"new/{name}", lineterm="")
    return "\n".join(map(marks.visible, lines))


def _table(groups: Iterable[Group]) -> Iterator[str]:
    yield "| | of | before → after | calls | example |"
    yield "| --- | --- | --- | --- | --- |"
    for group in groups:
        cause = group.cause
        if cause.is_decision:
            said = _escaped(_change(cause))
        else:
            said = "<br>".join(_escaped(each.what) for each in cause.differs)
        places = f"{_code(group.before_place)} → {_code(group.after_place)}"
        cells = (
            cause.lean.value,
            _code(_about(cause)),
            f"{said}<br>{places}",
            str(group.count),
            _code(example(group.example)),
        )
        yield f"| {' | '.join(cells)} |"


def _escaped(said: str) -> str:
    """Return text that stays text in a table: neither markup nor a link comes of it."""
    plain = " ".join(marks.visible(said).split())
    for sign in "\\`*_[]<>|#~@!":
        plain = plain.replace(sign, f"\\{sign}" if sign not in "<>@" else f"&#{ord(sign)};")
    return plain


def _code(said: str) -> str:
    """Return text in a code span; a bar would end its cell even there."""
    plain = " ".join(marks.visible(said).split()).replace("|", "\\|")
    if not plain:
        return "–"
    fence = "`" * (_longest_run(plain) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def _longest_run(said: str) -> int:
    longest = run = 0
    for sign in said:
        run = run + 1 if sign == "`" else 0
        longest = max(longest, run)
    return longest


def _group_json(group: Group) -> JsonObject:
    cause = group.cause
    return {
        "lean": cause.lean.value,
        "kind": cause.kind.value,
        "of": cause.target,
        "method": cause.method,
        "before": {
            "decision": cause.before.value,
            "rule": cause.before_rule,
            "place": group.before_place,
        },
        "after": {
            "decision": cause.after.value,
            "rule": cause.after_rule,
            "place": group.after_place,
        },
        "differs": [{"what": each.what, "lean": each.lean.value} for each in cause.differs],
        "calls": group.count,
        "example": group.example.to_json(),
    }
