"""Child processes: what they get, and that they end."""

import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from gateway.servers.child import PipeWriter
from gateway.servers.supervisor import Server
from tests.helpers.fake_server import Script, alive, record_of, text, until_async
from tests.helpers.fleets import call, failed, first_text, running, stdio_entry, structured


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """Run on both loops: they differ in how they start, feed and end processes."""
    return "asyncio", {"use_uvloop": request.param}


async def test_a_child_sees_nothing_of_the_gateways_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """case: CFG-02"""
    for name in ("GW_DB_URL", "GW_SIGNING_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, f"secret of {name}")
    kept = (tmp_path / "database").open("w")
    os.set_inheritable(kept.fileno(), True)
    entry = stdio_entry(
        Script(on_call={"show": [{"environment": True}]}), tmp_path, env={"ALPHA_TOKEN": "S4"}
    )
    with kept:
        async with running(entry, environment=dict(os.environ)) as servers:
            seen = structured(await call(servers.server("alpha"), "show"))
    assert seen["environment"]["ALPHA_TOKEN"] == "S4"
    assert seen["environment"]["PATH"] == os.environ["PATH"]
    assert "secret of" not in str(seen["environment"])
    assert not [link for link in seen["descriptors"] if "database" in link or "socket" in link]


async def test_arguments_arrive_exactly_as_written(tmp_path: Path) -> None:
    """case: CFG-04"""
    args = ("C:\\dir a\\x", "it's", 'a"b', "$HOME", "*", "; touch marker_file", "", "ünï")
    folder = tmp_path / "dir with blank"
    folder.mkdir()
    plain = stdio_entry(Script(on_call={"show": [{"environment": True}]}), tmp_path)
    entry = replace(plain, args=(*plain.args, *args), cwd="dir with blank")
    async with running(entry, folder=tmp_path) as servers:
        seen = structured(await call(servers.server("alpha"), "show"))
    assert tuple(seen["argv"][1:]) == args
    assert seen["cwd"] == str(folder)
    assert not list(tmp_path.rglob("marker_file"))


async def test_a_wrapped_server_ends_with_its_wrapper(tmp_path: Path) -> None:
    """case: STD-02"""
    plain = stdio_entry(Script(), tmp_path)
    quoted = " ".join(f"'{part}'" for part in (plain.command, *plain.args))
    entry = replace(plain, command="sh", args=("-c", f"{quoted}; true"))
    record = record_of(tmp_path, "alpha")
    for _ in range(3):
        async with running(entry) as servers:
            assert first_text(await call(servers.server("alpha"))) == "echo"
            assert sum(alive(pid) for pid in record.pids()) == 1
        assert not any(alive(pid) for pid in record.pids())
    assert len(record.pids()) == 3


async def test_a_helper_that_outlives_its_server_is_ended_too(tmp_path: Path) -> None:
    """case: STD-02"""
    script = Script(helper=True, on_call={"boom": [{"exit": 3}]})
    async with running(stdio_entry(script, tmp_path)) as servers:
        helper = int((tmp_path / "alpha.helper").read_text())
        assert alive(helper)
        failed(await call(servers.server("alpha"), "boom"))
        await until_async(lambda: not alive(helper))


async def test_a_child_that_ignores_everything_is_killed_with_its_group(tmp_path: Path) -> None:
    """case: STD-07"""
    script = Script(
        ignore=["eof", "sigterm"], helper=True, on_call={"hang": [{"delay_ms": 60_000}]}
    )
    async with running(stdio_entry(script, tmp_path)) as servers:
        alpha = servers.server("alpha")
        assert alpha is not None
        pids = [alpha.state.pid, int((tmp_path / "alpha.helper").read_text())]
        assert all(alive(pid) for pid in pids)
    assert not any(alive(pid) for pid in pids)


async def test_a_call_under_way_ends_when_its_server_is_stopped(tmp_path: Path) -> None:
    """case: STD-07"""
    script = Script(on_call={"hang": [{"delay_ms": 60_000}], "echo": [{"reply": text("x")}]})
    ends: list[str] = []

    async def one(server: Server | None) -> None:
        ends.append(failed(await call(server, "hang", deadline_s=60)).detail)

    entry = stdio_entry(script, tmp_path)
    async with anyio.create_task_group() as outside, running(entry) as servers:
        outside.start_soon(one, servers.server("alpha"))
        await until_async(record_of(tmp_path, "alpha").calls)
    assert ends == ["`alpha` was stopped"]


async def test_a_writer_knows_what_has_left() -> None:
    reader, writer = os.pipe()
    broken: list[bool] = []
    pipe = PipeWriter(writer, lambda: broken.append(True))
    first, second = pipe.write(b"x" * 100_000), pipe.write(b"y")
    assert 0 < first.sent < 100_000
    assert not pipe.withdraw(first)
    assert pipe.withdraw(second)
    assert len(os.read(reader, 200_000)) == first.sent
    await until_async(lambda: first.has_left)
    os.close(reader)
    third = pipe.write(b"z")
    assert broken == [True]
    assert not third.has_left
    pipe.close()


async def test_a_process_that_is_stopped_while_it_starts_is_ended_too(tmp_path: Path) -> None:
    """case: STD-02"""
    script = Script(on_start=[{"delay_ms": 60_000}])
    for _ in range(3):
        async with running(stdio_entry(script, tmp_path), wait_s=0):
            await anyio.sleep(0)
    assert not any(alive(pid) for pid in record_of(tmp_path, "alpha").pids())
