"""From recorded calls to policy tests that pass: each is tried before it is written."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gateway import jsontext
from gateway.actions import templates, trial
from gateway.errors import FileError
from gateway.policy import cases, promoting, testing
from gateway.policy.past import Past
from gateway.policy.promoting import Promoted
from gateway.policy.sample_arguments import values
from gateway.policy.sample_texts import Pool
from gateway.revision import Revision
from gateway.types.json import Json, JsonObject, JsonPointer

_MOST: Final = 8  # values that are tried in place of one that is not known


def promote(pasts: Iterable[Past], revision: Revision, *, of: str) -> tuple[Promoted, ...]:
    """Return each call as a case that passes under a revision, or with the reason why none does.

    A value that the log does not hold is left out, or where the tool needs it, made up; the case
    says so. `of` is what was recorded.
    """
    return tuple(_promoted(past, revision, of) for past in pasts)


def text(promoted: Sequence[Promoted], revision: Revision, *, of: str) -> str:
    """Return the file of the cases."""
    return promoting.file(promoted, of=of, timed=revision.reads_now)


def _promoted(past: Past, revision: Revision, of: str) -> Promoted:
    fault = "its arguments were not kept" if "" in past.unknown else ""
    for arguments, notes in _attempts(past, revision):
        run = None if past.run is None else dict(past.run)
        gone = tuple(f"{each} of the run is left out: it was not kept" for each in past.gone)
        one = Promoted(past=past, arguments=arguments, run=run, notes=(*notes, *gone))
        fault = _fault(one, revision, of)
        if not fault:
            return one
    if past.unknown:
        fault += f"; not known: {', '.join(past.unknown)}"
    return Promoted(past=past, arguments={}, run=None, fault=fault)


def _attempts(past: Past, revision: Revision) -> Iterator[tuple[JsonObject, tuple[str, ...]]]:
    """Yield the arguments to try, with what is to be said of them."""
    if not past.unknown:
        yield past.arguments, ()
        return
    if "" in past.unknown:
        return
    without: Json = past.arguments
    for pointer in past.unknown:
        without = _removed(without, pointer)
    known = without if isinstance(without, dict) else {}
    told = {place: f"`{place}` is left out: {why}" for place, why in past.unknown.items()}
    yield known, tuple(told.values())
    whole = {f"/{place.split('/')[1]}": why for place, why in past.unknown.items()}
    for number in range(_MOST):
        made = {_name(place): _made(past, revision, place, number) for place in whole}
        notes = (f"`{place}` is made up: {why}" for place, why in whole.items())
        yield {**known, **made}, tuple(notes)


def _made(past: Past, revision: Revision, place: JsonPointer, number: int) -> Json:
    """Return something to put in place of a value that is not known."""
    contract = revision.contracts.get(past.key)
    schema = contract.input_schema if contract is not None else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    said = properties.get(_name(place)) if isinstance(properties, dict) else None
    tried = values(said, schema if isinstance(schema, dict) else {}, Pool())
    return tried[number % len(tried)] if tried else "x"


def _name(place: JsonPointer) -> str:
    return place[1:].replace("~1", "/").replace("~0", "~")


def _removed(value: Json, pointer: JsonPointer) -> Json:
    """Return a value without what is at a pointer; of a list nothing is removed but the whole."""
    parent, _, last = pointer.rpartition("/")
    try:
        around = jsontext.get(value, parent)
    except LookupError:
        return value
    if not isinstance(around, dict):
        return _removed(value, parent) if parent else value
    name = _name(f"/{last}")
    rest: JsonObject = {key: each for key, each in around.items() if key != name}
    return jsontext.replace(value, parent, rest) if parent else rest


def _fault(one: Promoted, revision: Revision, of: str) -> str:
    """Say why a case does not pass as it would be written, or return an empty text."""
    written = promoting.file([one], of=of, timed=revision.reads_now)
    try:
        read = cases.load(written, file="recorded")
    except FileError as error:
        return f"it can't be written as a test: {error.message}"
    found = read.cases(revision.contracts, templates.known(revision.templates))
    report = testing.run(
        found,
        revision.policy,
        validate=trial.validate(revision),
        decide=trial.decide(revision),
    )
    (result,) = report.results
    return "; ".join(result.problems)
