"""The reference page of the forms in which events leave, made from the tables that make them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gateway.actions import answers_access, answers_calls, answers_policy
from gateway.actions.columns import COLUMNS
from gateway.events import cloudevents, ocsf
from gateway.events.mapping import Field
from gateway.events.ocsf import Activity
from gateway.events.ocsf_classes import CLASSES, COMMON, Class
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject

ANSWERS: Final[Mapping[str, Sequence[str]]] = {
    "decided": answers_calls.DECIDED,
    "reviews": answers_calls.REVIEWS,
    "shown": ("group", "label", "text", "marks"),
    "readers": answers_calls.READERS,
    "who-could": answers_access.WHO_COULD,
    "rule-changes": answers_policy.RULE_CHANGES,
    "policy-changes": answers_policy.POLICY_CHANGES,
    "complete": ("part", "first", "last", "what"),
}
_HEAD: Final = """\
# Events in other forms

`weighbridge events query --format …` and `weighbridge events export --format …` give out
events, one on a line, in the order of the log. The form that counts is the stored one ([event
log](events.md)): only that can be proven. What was redacted before it was kept is redacted in
every form. Generated from the tables in `gateway/events` and `gateway/actions` that make these
forms.

| format | is | for |
| --- | --- | --- |
| `json` | the event as it is kept, with its number | programs |
| `csv` | the columns below; RFC 4180 | spreadsheets, samples for auditors |
| `ocsf` | Open Cybersecurity Schema Framework {ocsf} | SIEMs and security lakes |
| `cloudevents` | CloudEvents {cloudevents}, JSON format | queues, webhooks, brokers |

## CSV

UTF-8, lines end with CR LF, the first has the names. Names and their order stay; new columns
come at the end. A cell that begins with `=`, `+`, `-`, `@`, a tab or a line end, be it after
spaces, stands behind an apostrophe, so that no spreadsheet takes it for a formula; so does what
follows a `;` like one, since some spreadsheets begin a cell there, quotes or not. Line ends,
tabs, control and bidi characters are written as `\\u{{…}}`: a row is a line, and a terminal is
not led astray. JSON has every character as it is.

"""
_OCSF: Final = """\
## OCSF

An event is of one class; `metadata.event_code` is its kind and stage, such as
`tool_call.finished`, by which consumers should select: a call has an `authorization` and a
`tool_call`, and both are API Activity. `type_uid` is `class_uid` × 100 + `activity_id`.
Whatever has no member of its own is in `unmapped`, under its name in the event, so that nothing
is lost. Profiles are named in `metadata.profiles`: `trace` where there is a trace,
`security_control` where a rule or a decision is told.

| member | is |
| --- | --- |
| `metadata.version` | `{ocsf}` |
| `metadata.product` | `Weighbridge`, with the version of the gateway that wrote the event |
| `status_id` | 1: as somebody wanted; 2: not; 0: nobody knows; 99: not over, or held for people |
| `severity_id` | 3: look into it; 2: refused or failed; else 1 |
| `action_id`, `disposition_id` | 1 allowed; 2 denied, blocked; 99 held for people |
| `message` | kind, stage, what it is about and what came of it, for people |

To look into is of what nobody knows what it did, and what was turned away, quarantined, changed
or could not be kept.

"""


def render() -> str:
    """Return the page."""
    versions = {"ocsf": ocsf.VERSION, "cloudevents": cloudevents.VERSION}
    return "".join(f"{line}\n" for line in _lines(versions))


def _lines(versions: Mapping[str, str]) -> Iterator[str]:
    yield _HEAD.format(**versions).rstrip("\n")
    yield ""
    yield from _table(("column", "is"), ((f"`{name}`", each.of) for name, each in COLUMNS.items()))
    yield "The rows of `weighbridge events ask`, in each form:\n"
    yield from _table(
        ("question", "columns"),
        ((f"`{name}`", ", ".join(f"`{each}`" for each in of)) for name, of in ANSWERS.items()),
    )
    yield _OCSF.format(**versions).rstrip("\n")
    yield ""
    yield from _table(("event", "class", "activity"), _activities())
    yield "Every class, where the event has it:\n"
    yield from _fields(COMMON)
    for each in CLASSES:
        yield f"### {each.caption} ({each.uid})\n"
        yield from _fields(each.fields)
    yield "## CloudEvents\n"
    yield from _table(
        ("attribute", "is"),
        (*((f"`{name}`", of) for name, of in cloudevents.CONSTANTS), *_rows(cloudevents.FIELDS)),
    )
    yield "`source` and `id` name an event for good: whoever gets it twice knows it by them."


def _activities() -> Iterator[tuple[str, str, str]]:
    """Yield which class and activity each event has."""
    for effect, number in ocsf.EFFECTS.items():
        what = (
            f"`authorization`, `tool_call`, `retrieval`, `side_effect` of a call that is `{effect}`"
        )
        yield _activity(what, ocsf.activity_of(_of("tool_call", "finished", effect=effect)))
        del number
    yield _activity("the same of anything else", ocsf.activity_of(_of("tool_call", "finished")))
    yield _activity(
        "`authorization` of a question", ocsf.activity_of(_of("authorization", "started"))
    )
    yield _activity("`model_turn`", ocsf.activity_of(_of("model_turn", "finished")))
    for kind, stages in ((EventKind.APPROVAL, ocsf.APPROVALS), (EventKind.RUN, ocsf.RUNS)):
        for stage in stages:
            yield _activity(f"`{kind}` `{stage}`", ocsf.activity_of(_of(kind, stage)))
        other = ocsf.activity_of(_of(kind, Stage.CHANGED))
        yield _activity(f"`{kind}`, other stages", other)
    for action, activity in ocsf.ACTIONS.items():
        yield _activity(f"`admin` `{action}`", activity)
    yield _activity("`admin`, other actions", ocsf.activity_of(_of("admin", "recorded")))


def _of(kind: str, stage: str, **body: str) -> JsonObject:
    return {"kind": kind, "stage": stage, "body": {**body}}


def _activity(what: str, activity: Activity) -> tuple[str, str, str]:
    of: Class = activity.of
    name = activity.name if activity.name and activity.name != "None" else activity.caption
    entity = f", entity `{activity.entity}`" if activity.entity else ""
    named = "the action" if name == "None" else name
    return what, f"{of.caption} ({of.uid})", f"{activity.id} {named}{entity}"


def _fields(fields: Sequence[Field]) -> Iterator[str]:
    yield from _table(("OCSF", "event"), _rows(fields))


def _rows(fields: Sequence[Field]) -> Iterator[tuple[str, str]]:
    for field in fields:
        of = ", ".join(f"`{each}`" for each in field.of)
        yield f"`{field.to}`", of + (f" ({field.about})" if field.about else "")


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(headers)} |"
    yield f"| {' | '.join('---' for _ in headers)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
