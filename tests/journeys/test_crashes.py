"""A gateway that dies, or whose disk is full, in the middle of a write: what the next call gets."""

import asyncio
import json
import re
import secrets
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psycopg
import pytest

from gateway.crossing.failpoints import Failpoint
from gateway.ids import ulid
from gateway.types.tools import Effect, Risk
from tests.helpers import forked
from tests.helpers.databases import ENGINES
from tests.helpers.disks import full, small_disk
from tests.helpers.fake_http import FakeHttp
from tests.helpers.fake_server import Script, text, tool, until_async
from tests.helpers.forked import Death, Forked
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.postgres import OwnPostgres, own_postgres
from tests.journeys import house
from tests.journeys.house import Json

TOOL = tool("put")
# What finds no room for certain: more than is left free in pages that a database has already.
LARGE = secrets.token_hex(100_000)
NAME = "alpha__put"


@dataclass(frozen=True)
class Place:
    """A disk, and the URL of the store on it."""

    disk: Path
    store: str


@pytest.fixture(scope="module")
def postgres() -> Generator[OwnPostgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store: its URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    server: OwnPostgres = request.getfixturevalue("postgres")
    return server.create(f"t{ulid().lower()}")


@pytest.fixture
def alpha(tmp_path: Path) -> Generator[FakeHttp]:
    """A server that answers a `put` once the file `go` is there."""
    held = [{"wait_for_file": str(tmp_path / "go")}, {"reply": text(LARGE)}]
    with FakeHttp(Script(tools=[TOOL], on_call={"put": held})) as fake:
        yield fake


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Generator[Place]:
    """A small disk, and an empty store on it."""
    folder = Path(tempfile.mkdtemp(prefix="wb-disk-"))
    folder.chmod(0o755)  # also PostgreSQL's own user has to get there
    is_file = request.param == "sqlite"
    try:
        with small_disk(folder / "disk", 4 if is_file else 32) as disk:
            if is_file:
                yield Place(disk=disk, store=f"sqlite:///{disk}/store.db")
            else:
                server: OwnPostgres = request.getfixturevalue("postgres")
                with server.on_disk(disk) as url:
                    yield Place(disk=disk, store=url)
    finally:
        shutil.rmtree(folder)


@asynccontextmanager
async def started(
    folder: Path, alpha: FakeHttp, store: str, death: Death | None = None
) -> AsyncGenerator[Gateway]:
    config = house.config({"alpha": house.http(alpha)}, operations={"lease": "1s"})
    write = house.contract(TOOL, effect=Effect.WRITE, risk=Risk.MEDIUM)

    async def begin(words: Sequence[str], log: Path, environ: Mapping[str, str]) -> Forked:
        return forked.begin(words, log, environ, death)

    async with running(
        folder, config, contracts=house.contracts(write), store=store, begin=begin
    ) as gateway:
        await gateway.listed(NAME)
        yield gateway


def operations(store: str) -> list[Json]:
    """Return state and attempts of the operations, as they lie in the store."""
    statement = "SELECT state, epoch FROM operations"
    if store.startswith("sqlite"):
        with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as file:
            rows = file.execute(statement).fetchall()
    else:
        with psycopg.connect(store) as connection:
            rows = connection.execute(statement).fetchall()
    return [{"state": state, "attempts": epoch} for state, epoch in rows]


async def call(gateway: Gateway, number: int = 1) -> Json:
    """Call once and return what the gateway says; an answer that keeps one waiting is no answer."""
    while True:
        result = await gateway.call(NAME, {"n": number, "memo": LARGE})
        if outcome(result)["status"] != "in_progress":
            return {**outcome(result), "content": result["content"]}


async def unknown(folder: Path) -> list[Json]:
    """Return what `weighbridge ops list` says of those operations of which nobody knows."""
    chosen = ["--state", "indeterminate", "--json", "--config", str(folder / "config.yaml")]
    said = folder / "listed.json"
    assert await forked.begin(["ops", "list", *chosen], said).wait() == 0
    return json.loads(said.read_text())


async def killed(folder: Path, alpha: FakeHttp, store: str, point: Failpoint) -> None:
    """Make a call of which a gateway dies at a point; then the server answers who is left."""
    arrived = folder / "arrived" if point is Failpoint.AFTER_SEND else None
    async with started(folder, alpha, store, Death(point=point, file=arrived)) as gateway:
        under_way = asyncio.ensure_future(gateway.call(NAME, {"n": 1, "memo": LARGE}))
        if arrived is not None:
            await until_async(alpha.calls, house.WITHIN_S)
            arrived.touch()
        else:
            (folder / "go").touch()
        async with asyncio.timeout(house.WITHIN_S):
            assert await gateway.process.wait() == -signal.SIGKILL
        await asyncio.wait({under_way})
        assert isinstance(under_way.exception(), aiohttp.ClientError)
    (folder / "go").touch()


async def test_a_write_whose_gateway_died_before_its_intent_runs_when_it_is_called_again(
    tmp_path: Path, alpha: FakeHttp, store: str
) -> None:
    """case: IDM-02"""
    await killed(tmp_path, alpha, store, Failpoint.BEFORE_INTENT)
    assert (len(alpha.calls()), operations(store)) == (0, [])
    async with started(tmp_path, alpha, store) as gateway:
        assert (await call(gateway))["status"] == "ok"
    assert len(alpha.calls()) == 1
    assert operations(store) == [{"state": "succeeded", "attempts": 1}]


@pytest.mark.parametrize(
    ("point", "sent"),
    [(Failpoint.AFTER_INTENT, 0), (Failpoint.AFTER_SEND, 1), (Failpoint.BEFORE_SETTLE, 1)],
)
async def test_a_write_whose_gateway_died_after_its_intent_is_unknown_and_not_sent_again(
    tmp_path: Path, alpha: FakeHttp, store: str, point: Failpoint, sent: int
) -> None:
    """case: IDM-02"""
    await killed(tmp_path, alpha, store, point)
    assert len(alpha.calls()) == sent
    assert operations(store) == [{"state": "dispatching", "attempts": 1}]
    async with started(tmp_path, alpha, store) as gateway:
        said = await call(gateway)
        assert (said["status"], said["executed"]) == ("indeterminate", "unknown")
        assert len(alpha.calls()) == sent
        (listed,) = await unknown(tmp_path)
    assert (listed["op_id"], listed["evidence"]) == (said["op_id"], "lease_expired")


async def test_nobody_has_to_call_again_for_a_write_to_be_known_as_unknown(
    tmp_path: Path, alpha: FakeHttp, store: str
) -> None:
    """case: IDM-02"""
    await killed(tmp_path, alpha, store, Failpoint.AFTER_SEND)
    unknown = [{"state": "indeterminate", "attempts": 1}]
    async with started(tmp_path, alpha, store):
        await until_async(lambda: operations(store) == unknown, house.WITHIN_S)
    assert len(alpha.calls()) == 1


async def test_a_write_whose_gateway_died_after_its_answer_is_told_again(
    tmp_path: Path, alpha: FakeHttp, store: str
) -> None:
    """case: IDM-02"""
    (tmp_path / "go").touch()
    async with started(tmp_path, alpha, store) as gateway:
        first = await call(gateway)
        await gateway.stop(signal.SIGKILL)
    async with started(tmp_path, alpha, store) as gateway:
        again = await call(gateway)
    assert (again["replayed"], again["content"]) == (True, first["content"])
    assert again["op_id"] == first["op_id"]
    assert len(alpha.calls()) == 1


async def test_with_a_full_disk_at_its_intent_a_write_is_not_sent_and_later_it_is(
    tmp_path: Path, alpha: FakeHttp, place: Place
) -> None:
    """case: OBS-03"""
    (tmp_path / "go").touch()
    async with started(tmp_path, alpha, place.store) as gateway:
        with full(place.disk):
            refused = await call(gateway)
            assert (refused["status"], refused["executed"]) == ("audit_unavailable", "no")
            assert re.search("disk is full|No space left", refused["reason"])
        assert alpha.calls() == []

        async def is_done() -> bool:
            return (await call(gateway))["status"] == "ok"

        await until_async(is_done, house.WITHIN_S)
    assert len(alpha.calls()) == 1
    assert [each["state"] for each in operations(place.store)] == ["succeeded"]


@pytest.mark.parametrize("is_killed", [False, True])
async def test_with_a_full_disk_at_its_outcome_a_write_is_answered_and_never_sent_again(
    tmp_path: Path, alpha: FakeHttp, place: Place, *, is_killed: bool
) -> None:
    """case: OBS-03"""
    async with started(tmp_path, alpha, place.store) as gateway:
        under_way = asyncio.ensure_future(call(gateway))
        await until_async(alpha.calls, house.WITHIN_S)
        with full(place.disk):
            (tmp_path / "go").touch()
            said = await under_way
            assert (said["status"], said["content"][0]["text"]) == ("ok", LARGE)
            assert "not kept" in json.dumps(said["notes"])
            if is_killed:
                await gateway.stop(signal.SIGKILL)
        if not is_killed:
            await until_async(
                lambda: [one["state"] for one in operations(place.store)] == ["succeeded"],
                house.WITHIN_S,
            )
            assert (await call(gateway))["replayed"]
    if is_killed:
        async with started(tmp_path, alpha, place.store) as gateway:
            assert (await call(gateway))["status"] == "indeterminate"
    assert len(alpha.calls()) == 1
