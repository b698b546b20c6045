"""`weighbridge events prove`: that one event is in the log, or that the log only grew."""

from functools import partial
from pathlib import Path

import click

from gateway.cli import disclosing, output, trusting
from gateway.cli.opening import opened, run
from gateway.cli.options import config_option, json_option, load
from gateway.errors import LogChanged
from gateway.events import checkpoints, notes, proofs
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import Key, NoteError
from gateway.events.proofs import Proof
from gateway.events.trust import Trust
from gateway.events.verifying import Mark
from gateway.store import proving
from gateway.store.proving import Prover
from gateway.store.store import Store
from gateway.types.json import JsonObject


@click.command("prove", epilog="Example: weighbridge events prove 12 --out proof/")
@config_option
@click.argument("event", required=False)
@click.option(
    "--checkpoint",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    help="A file with checkpoints; its largest counts. Default: the last one of the store.",
)
@click.option(
    "--from",
    "old",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    default=None,
    help="A file with an older checkpoint: prove that the log only grew since.",
)
@click.option("--key", "given", multiple=True, help="As for `weighbridge events verify`.")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default="the current folder",
    help="Where the files are put; made where it isn't there.",
)
@json_option
def command(
    path: Path,
    event: str | None,
    file: Path | None,
    old: Path | None,
    given: tuple[str, ...],
    folder: Path,
    as_json: bool,
) -> None:
    """Prove that an event is in the log, or that the log only grew.

    The event is named by its id, by as much of it as begins no other, or by its number; with
    --from FILE it is proven that the log only grew since a checkpoint.

    Writes the event, byte for byte, and its proof (C2SP tlog-proof); or the hashes that lead from
    one checkpoint to another (as the witnesses of C2SP tlog-witness take them).
    """
    if (event is None) == (old is None):
        output.fail("say which event, or from which checkpoint: `EVENT` or `--from FILE`")
    keys = trusting.keys(load(path).settings, given)
    new = _largest(trusting.marks([file])) if file is not None else None
    before = _largest(trusting.marks([old])) if old is not None else None

    async def prove() -> list[Path]:
        async with opened(path) as store:
            note = new.note if new is not None else await _last(store)
            prover = Prover(_believed(note, keys))
            if before is not None:
                files = await _grown(store, prover, note, _believed(before.note, keys))
            else:
                files = await _contained(store, prover, note, event or "")
            asked: JsonObject = {"event": event} if event else {"from": str(old)}
            await disclosing.told(store, "prove", asked, events=1 if event else 0)
            return [_written(folder / name, data) for name, data in files.items()]

    written = run(prove)
    if as_json:
        output.as_json({"files": [str(each) for each in written]})
        return
    for each in written:
        output.one_line(str(each))


async def _contained(store: Store, prover: Prover, note: str, event: str) -> dict[str, bytes]:
    ids = await store.checkpoints.read(partial(proving.named, said=event))
    if len(ids) > 1:
        output.fail(f"`{event}` begins the ids of several events; give more of it, or a number")
    id = ids[0] if ids else event
    found = await store.checkpoints.read(partial(prover.event, id=id))
    if found is None:
        output.fail(f"there is no event `{event}` in the log", output.EXIT_FAILED)
    proof = Proof(index=found.seq - 1, path=found.path, note=note)
    return {f"{id}.json": found.body, f"{id}.tlog-proof": proof.text().encode()}


async def _grown(store: Store, prover: Prover, note: str, old: Checkpoint) -> dict[str, bytes]:
    path = await store.checkpoints.read(partial(prover.since, old=old))
    size = checkpoints.parse(notes.parse(note).text).size
    lines = [f"old {old.size}", *proofs.written(path)]
    return {f"{old.size}-{size}.consistency": ("\n".join(lines) + f"\n\n{note}").encode()}


async def _last(store: Store) -> str:
    last = (await store.checkpoints.standing()).last
    if last is None:
        output.fail("the log has no checkpoint yet", output.EXIT_FAILED)
    return last.note


def _believed(note: str, keys: tuple[Key, ...]) -> Checkpoint:
    try:
        return Trust(keys).checked(note)[0]
    except NoteError as error:
        raise LogChanged(f"the checkpoint: {error}") from error


def _largest(marks: list[Mark]) -> Mark:
    if not marks:
        output.fail("the file holds no checkpoint")
    return max(marks, key=lambda mark: mark.size)


def _written(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        output.fail(f"{path}: {(error.strerror or str(error)).lower()}")
    return path
