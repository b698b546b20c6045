"""The loops beside the calls."""

import os
from pathlib import Path

import anyio
import anyio.lowlevel

from gateway.housekeeping import Reloader, Snapshots, fingerprint


class Reloads:
    """Counts, and can fail."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.happened = anyio.Event()
        self.fails = False

    async def __call__(self, because: str) -> None:
        self.reasons.append(because)
        self.happened.set()
        self.happened = anyio.Event()
        if self.fails:
            raise RuntimeError("broken")

    async def wait(self, count: int) -> None:
        with anyio.fail_after(15):
            while len(self.reasons) < count:
                await self.happened.wait()


async def test_a_changed_file_is_taken_and_a_still_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("rules: []\n")
    reloads = Reloads()
    reloader = Reloader(folder=tmp_path, reload=reloads, every_s=0.02)
    async with anyio.create_task_group() as tasks:
        await tasks.start(reloader.run)
        (tmp_path / "b.yaml").write_text("rules: []\n")
        await reloads.wait(1)
        reloader.tell()
        await reloads.wait(2)
        tasks.cancel_scope.cancel()
    assert reloads.reasons == ["a file changed", "told to"]


async def test_one_file_is_watched_as_well_and_what_is_beside_it_is_not(tmp_path: Path) -> None:
    file, reloads = tmp_path / "config.yaml", Reloads()
    file.write_text("mode: observe\n")
    reloader = Reloader(folder=file, reload=reloads, every_s=0.02)
    async with anyio.create_task_group() as tasks:
        await tasks.start(reloader.run)
        (tmp_path / "b.yaml").write_text("rules: []\n")
        file.unlink()  # as editors do, for a moment
        file.write_text("mode: enforce  # now\n")
        await reloads.wait(1)
        tasks.cancel_scope.cancel()
    assert reloads.reasons == ["a file changed"]


async def test_a_text_of_the_same_length_and_time_is_another_one(tmp_path: Path) -> None:
    file, reloads = tmp_path / "config.yaml", Reloads()
    file.write_text("mode: observe\n")
    os.utime(file, ns=(1, 1))
    reloader = Reloader(folder=file, reload=reloads, every_s=0.02)
    async with anyio.create_task_group() as tasks:
        await tasks.start(reloader.run)
        file.write_text("mode: enforce\n")
        os.utime(file, ns=(1, 1))
        await reloads.wait(1)
        tasks.cancel_scope.cancel()


async def test_what_changed_between_the_reading_and_the_watch_is_taken(tmp_path: Path) -> None:
    file, reloads = tmp_path / "config.yaml", Reloads()
    file.write_text("mode: observe\n")
    was = fingerprint(file)
    file.write_text("mode: enforce  # now\n")
    reloader = Reloader(folder=file, reload=reloads, every_s=0.02, since=was)
    async with anyio.create_task_group() as tasks:
        await tasks.start(reloader.run)
        await reloads.wait(1)
        tasks.cancel_scope.cancel()


async def test_what_changed_just_now_is_taken_by_whoever_cannot_wait(tmp_path: Path) -> None:
    file, reloads = tmp_path / "a.yaml", Reloads()
    file.write_text("rules: []\n")
    reloader = Reloader(folder=tmp_path, reload=reloads, every_s=60)
    async with anyio.create_task_group() as tasks:
        await tasks.start(reloader.run)
        await reloader.catch_up()
        assert reloads.reasons == []
        file.write_text("rules: []  # another\n")
        await reloader.catch_up()
        await reloader.catch_up()
        tasks.cancel_scope.cancel()
    assert reloads.reasons == ["a file changed"]


async def test_who_catches_up_waits_for_a_reload_under_way(tmp_path: Path) -> None:
    begun, going, done = anyio.Event(), anyio.Event(), list[str]()

    async def slowly(because: str) -> None:
        begun.set()
        await going.wait()
        done.append(because)

    async def catches_up() -> None:
        await reloader.catch_up()
        done.append("caught up")

    reloader = Reloader(folder=tmp_path, reload=slowly, every_s=60)
    with anyio.fail_after(15):
        async with anyio.create_task_group() as tasks:
            await tasks.start(reloader.run)
            reloader.tell()
            await begun.wait()
            tasks.start_soon(catches_up)
            await anyio.wait_all_tasks_blocked()
            going.set()
            while len(done) < 2:
                await anyio.sleep(0.005)
            tasks.cancel_scope.cancel()
    assert done == ["told to", "caught up"]


async def test_a_reload_that_breaks_does_not_end_the_loop(tmp_path: Path) -> None:
    reloads = Reloads()
    reloads.fails = True
    reloader = Reloader(folder=tmp_path, reload=reloads, every_s=10)
    async with anyio.create_task_group() as tasks:
        await tasks.start(reloader.run)
        for number in (1, 2):
            reloader.tell()
            await reloads.wait(number)
        tasks.cancel_scope.cancel()
    assert reloads.reasons == ["told to", "told to"]


async def test_snapshots_are_written_when_told_and_survive_a_store_that_is_away() -> None:
    writes = Reloads()
    writes.fails = True

    async def write() -> None:
        await writes("write")

    snapshots = Snapshots(write=write, every_s=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(snapshots.run)
        await writes.wait(1)
        await anyio.lowlevel.checkpoint()
        snapshots.tell()
        await writes.wait(2)
        tasks.cancel_scope.cancel()
