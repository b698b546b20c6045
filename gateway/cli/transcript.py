"""`weighbridge replay --transcript FILE --run RUN`: a model's new calls beside recorded ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gateway import __version__, jsontext
from gateway.admin.rendering import Pages
from gateway.app.keeping import Keeping
from gateway.app.naming import naming
from gateway.cli import disclosing, opening, output, pastime, sealed
from gateway.cli.options import load
from gateway.errors import FileError
from gateway.replay import history, transcript_forms, transcripts
from gateway.replay.history import Span
from gateway.replay.redefined import Redefined
from gateway.replay.replaying import Replay
from gateway.replay.report import Wanted
from gateway.replay.supposing import Named
from gateway.replay.transcribing import Transcribed, Transcribing
from gateway.replay.transcripts import Proposed
from gateway.replay.types import Recorded
from gateway.revision import Revision
from gateway.servers.names import by_exposed_name


def _as_text(found: Transcribed, fail_on: Sequence[Wanted]) -> str:
    del fail_on
    return "\n".join(map(output.on_one_line, transcript_forms.lines(found)))


def _as_html(found: Transcribed, fail_on: Sequence[Wanted]) -> str:
    del fail_on
    return Pages().file("replay_transcript", found=found)


FORMS: Final[Mapping[str, Callable[[Transcribed, Sequence[Wanted]], str]]] = {
    "text": _as_text,
    "json": lambda found, _: jsontext.dump(transcript_forms.as_json(found)).decode(),
    "html": _as_html,
    "junit": lambda found, fail_on: transcript_forms.junit(found, fail_on=fail_on),
    "sarif": lambda found, _: jsontext.dump(
        transcript_forms.sarif(found, version=__version__)
    ).decode(),
}


def beside(
    path: Path, candidate: Revision, other: Redefined | None, run: str, file: Path
) -> Transcribed:
    """Compare the transcript in a file with a recorded run; ends the command where it can't be."""
    if not run:
        output.fail("--transcript is held against one run: name it with --run")
    proposed = _read(file)
    found = opening.run(lambda: _compared(path, candidate, other, run, proposed))
    if found is None:
        output.fail(f"the log has no judged calls of `{run}`; `runs list` has runs")
    return found


def _read(file: Path) -> tuple[Proposed, ...]:
    try:
        with file.open("rb") as opened:
            data = opened.read(transcripts.MAX_BYTES + 1)
        return transcripts.read(data, file=str(file))
    except OSError as error:
        output.fail(f"`{file}` can't be read: {(error.strerror or '').lower()}")
    except FileError as error:
        output.fail(str(error))


async def _compared(
    path: Path,
    candidate: Revision,
    other: Redefined | None,
    run: str,
    proposed: Sequence[Proposed],
) -> Transcribed | None:
    settings = load(path).settings
    known = by_exposed_name([*candidate.contracts], naming(settings.expose))
    names = {
        exposed: Named(key=key, server=key.partition(".")[0], exposed=exposed)
        for exposed, key in known.items()
    }
    async with opening.opened(path) as store:
        replay = Replay(
            candidate=other.revision if other is not None else candidate,
            past=pastime.past(store, path),
            definitions=await store.definitions.all(),
            offered=other.offered if other is not None else {},
        )
        recorded: list[Recorded] = []
        unsealing = sealed.opener(store, path)
        async for each in history.calls(store.events, Span(run=run), unsealing):
            if len(recorded) >= transcripts.MOST_CALLS:
                output.fail(f"`{run}` has more than {transcripts.MOST_CALLS} calls")
            recorded.append(each)
        if not recorded:
            return None
        await disclosing.told(store, "replay", {"run": run}, tenant=recorded[0].tenant)
        await sealed.noted(store, unsealing, "replay", {"run": run}, tenant=recorded[0].tenant)
        digest = Keeping(store=store).digest
        transcribing = Transcribing(replay=replay, names=names, digest=digest)
        return await transcribing(run, recorded, proposed)
