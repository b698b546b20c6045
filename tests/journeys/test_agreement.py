"""A changed policy takes force when several people agree, on every gateway of the store."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import aiohttp
from click.testing import CliRunner

from gateway.cli import people
from gateway.cli.main import main
from tests.admin.house import Browser
from tests.helpers.fake_server import Script, tool, until_async
from tests.helpers.gateway import ALLOW, Gateway, running
from tests.journeys import house
from tests.journeys.house import Json

CLOSED = "rules:\n  - {id: none, decision: deny, match: {tools: ['*']}}\n"
PEOPLE = [
    {"user": user, "tenant": "acme", "roles": roles}
    for user, roles in (("ann", ["lead"]), ("bo", ["lead"]), ("cy", ["lead"]), ("dee", []))
]


@dataclass(frozen=True)
class Place:
    """A gateway, its folder, and the people around it, each with an account of the machine."""

    gateway: Gateway
    folder: Path

    def said(self, user: str, *words: str, account: str = "", who: bool = True) -> tuple[int, Any]:
        """Give a command as somebody; returns the exit code and what it printed."""
        with patch.object(people, "_account", lambda: account or user):
            done = CliRunner().invoke(
                main,
                [
                    *("policy", *words, *(("--as", user) if who else ())),
                    *("--json", "--config", str(self.config)),
                ],
            )
        return done.exit_code, json.loads(done.stdout) if done.stdout else done.stderr

    async def page(self, user: str, *, account: str) -> str:
        """Log somebody in by a link that an account made, and return what he is shown."""
        link = await asyncio.to_thread(self._link, user, account)
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            browser = Browser(url=self.gateway.admin, session=session)
            assert (await browser.post(urlsplit(link).path)).status == 303
            return (await browser.get("/proposals")).text

    def _link(self, user: str, account: str) -> str:
        with patch.object(people, "_account", lambda: account):
            done = CliRunner().invoke(
                main, ["admin", "login", "--user", user, "--json", "--config", str(self.config)]
            )
        return str(json.loads(done.stdout)["url"])

    @property
    def config(self) -> Path:
        return self.folder / "config.yaml"

    @property
    def status(self) -> Json:
        return house.status(self.folder)

    def write(self, policy: str) -> None:
        (self.folder / "policies/policy.yaml").write_text(policy)

    async def waiting(self) -> str:
        """Wait until something is proposed, and return its revision."""
        await until_async(lambda: bool(self.status.get("proposed")), house.WITHIN_S)
        return str(self.status["proposed"][0]["revision"])

    async def in_force(self, revision: str) -> None:
        await until_async(lambda: self.status.get("revision") == revision, house.WITHIN_S)

    def actions(self, action: str) -> list[Json]:
        return [each["body"] for each in house.events(self.folder, action=action)]


@asynccontextmanager
async def at(
    folder: Path, *, policy: str = ALLOW, store: str = "", number: int = 2
) -> AsyncGenerator[Place]:
    entry = house.stdio(Script(tools=[tool("find")]), folder)
    config = house.unreviewed({"alpha": entry}, activation={"people": number, "roles": ["lead"]})
    async with running(
        folder, config, policy=policy, store=store, admin={"accounts": PEOPLE}
    ) as gateway:
        yield Place(gateway, folder)


async def test_a_file_alone_changes_nothing_and_two_people_do(tmp_path: Path) -> None:
    async with at(tmp_path) as place:
        await place.gateway.listed("alpha__find")
        first = str(place.status["revision"])
        place.write(CLOSED)
        revision = await place.waiting()
        assert place.status["revision"] == first
        assert "waits for people to agree" in place.status["problem"]
        assert await place.gateway.names() == ["alpha__find"]
        code, ruled = await asyncio.to_thread(place.said, "ann", "activate", revision[7:19])
        assert (code, ruled["counts"], ruled["lacks"]) == (0, True, 1)
        code, again = await asyncio.to_thread(place.said, "ann", "activate", revision[7:19])
        assert (code, again["message"]) == (1, "ann has agreed already; somebody else has to agree")
        assert await place.gateway.names() == ["alpha__find"]
        code, ruled = await asyncio.to_thread(place.said, "bo", "activate", revision)
        assert (code, ruled["lacks"]) == (0, 0)
        await place.in_force(revision)
        assert await place.gateway.names() == []
        (proposed,) = place.actions("policy_proposed")
        assert (proposed["revision"], proposed["from"], proposed["by"], proposed["lacks"]) == (
            revision,
            first,
            "",
            2,
        )
        assert "narrower" in proposed["change"]
        assert [each["by"] for each in place.actions("policy_approved")] == ["ann", "bo"]
        await house.event(tmp_path, action="policy_activated", by="agreed by ann, bo")

        def is_over() -> bool:
            return not place.status["problem"] and not place.status["proposed"]

        await until_async(is_over, house.WITHIN_S)


async def test_who_proposes_a_change_is_one_of_the_people_and_no_other(tmp_path: Path) -> None:
    async with at(tmp_path) as place:
        place.write(CLOSED)
        revision = await place.waiting()
        code, ruled = await asyncio.to_thread(place.said, "ann", "propose")
        assert (code, ruled["lacks"]) == (0, 1)
        code, ruled = await asyncio.to_thread(place.said, "ann", "activate", revision)
        assert code == 1
        code, ruled = await asyncio.to_thread(
            lambda: place.said("bo", "activate", revision, account="ann")
        )
        assert code == 1
        assert "from the same account of this machine" in ruled["message"]
        code, ruled = await asyncio.to_thread(place.said, "dee", "activate", revision)
        assert (code, ruled["message"]) == (1, "dee has no role that may agree (`lead`)")
        code, ruled = await asyncio.to_thread(place.said, "bo", "activate", revision)
        assert code == 0
        await place.in_force(revision)


async def test_a_link_that_the_same_account_made_is_no_second_person(tmp_path: Path) -> None:
    async with at(tmp_path) as place:
        place.write(CLOSED)
        revision = await place.waiting()
        code, ruled = await asyncio.to_thread(lambda: place.said("ann", "propose", account="root"))
        assert (code, ruled["lacks"]) == (0, 1)
        page = await place.page("bo", account="root")
        assert "from the same account of this machine, `root`" in page
        assert 'agree"' not in page
        page = await place.page("bo", account="bo")
        assert 'agree"' in page
        made = place.actions("login_link_made")
        assert [each["account"] for each in made] == ["root", "bo"]
        await house.event(tmp_path, action="logged_in", issuer="os:root")
        await house.event(tmp_path, action="logged_in", issuer="os:bo")
        assert place.status["revision"] != revision


async def test_who_has_left_since_he_agreed_is_not_one_of_them(tmp_path: Path) -> None:
    async with at(tmp_path) as place:
        first = str(place.status["revision"])
        place.write(CLOSED)
        revision = await place.waiting()
        assert (await asyncio.to_thread(place.said, "ann", "activate", revision))[0] == 0
        config = place.config.read_text()
        ann = json.dumps(PEOPLE[0]) + ", "
        assert ann in config
        place.config.write_text(config.replace(ann, ""))
        code, ruled = await asyncio.to_thread(place.said, "bo", "activate", revision)
        assert (code, ruled["lacks"], ruled["proposal"]["lacks"]) == (0, 1, 1)
        code, listed = await asyncio.to_thread(place.said, "bo", "proposals", who=False)
        assert (listed[0]["state"], listed[0]["lacks"]) == ("open", 1)
        assert place.status["revision"] == first


async def test_other_files_under_an_agreed_digest_take_no_force(tmp_path: Path) -> None:
    async with at(tmp_path, policy=CLOSED) as place:
        first = str(place.status["revision"])
        place.write(CLOSED + "# harmless\n")
        revision = await place.waiting()
        with closing(sqlite3.connect(tmp_path / "store.db", timeout=20)) as connection:
            connection.execute(
                "UPDATE policy_proposals SET texts = ? WHERE revision = ?",
                (json.dumps({"policy.yaml": ALLOW}), revision),
            )
            connection.commit()
        for user in ("ann", "bo"):
            await asyncio.to_thread(place.said, user, "activate", revision)

        def is_refused() -> bool:
            return "is not what the store has under its name" in str(place.status["problem"])

        await until_async(is_refused, house.WITHIN_S)
        assert place.status["revision"] == first
        assert await place.gateway.names() == []
        code, ruled = await asyncio.to_thread(place.said, "ann", "propose")  # which mends it
        assert (code, ruled["lacks"]) == (0, 1)
        assert (await asyncio.to_thread(place.said, "bo", "activate", revision))[0] == 0
        await place.in_force(revision)
        refused = place.actions("policy_refused")
        assert [each["by"] for each in refused] == ["people agreed"]  # once, not at every look


async def test_what_was_turned_down_does_not_come_back_by_itself(tmp_path: Path) -> None:
    async with at(tmp_path) as place:
        first = str(place.status["revision"])
        place.write(CLOSED)
        revision = await place.waiting()
        reason = ("--reason", "nobody could work")
        code, ruled = await asyncio.to_thread(place.said, "bo", "reject", revision, *reason)
        assert code == 0
        assert ruled["proposal"]["state"] == "rejected"
        code, ruled = await asyncio.to_thread(place.said, "ann", "activate", revision)
        assert (code, ruled["message"]) == (1, "it is rejected already")
    async with at(tmp_path, policy=CLOSED) as place:  # the same files, after a restart
        await until_async(lambda: "turned revision" in str(place.status["problem"]), house.WITHIN_S)
        assert place.status["revision"] == first
        assert place.status["proposed"] == []
        (rejected,) = place.actions("policy_rejected")
        assert (rejected["by"], rejected["reason"]) == ("bo", "nobody could work")
        code, ruled = await asyncio.to_thread(place.said, "ann", "propose")
        assert (code, ruled["lacks"]) == (0, 1)


async def test_a_gateway_starts_with_what_was_agreed_on_whatever_its_folder_says(
    tmp_path: Path,
) -> None:
    async with at(tmp_path) as place:
        first = str(place.status["revision"])
    async with at(tmp_path, policy=CLOSED) as place:
        assert await place.waiting() != first
        assert place.status["revision"] == first
        await place.gateway.listed("alpha__find")
    async with at(tmp_path, policy="rulez: []\n") as place:  # a folder that can't be used at all
        await until_async(lambda: "rulez" in str(place.status["problem"]), house.WITHIN_S)
        assert place.status["revision"] == first


async def test_gateways_of_one_store_go_by_one_revision(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    store = f"sqlite:///{tmp_path}/one/store.db"
    async with at(one, store=store) as here, at(other, store=store) as there:
        await there.gateway.listed("alpha__find")
        here.write(CLOSED)
        revision = await here.waiting()
        for user in ("ann", "bo"):
            assert (await asyncio.to_thread(here.said, user, "activate", revision))[0] == 0

        async def closed() -> bool:
            return not await there.gateway.names() and not await here.gateway.names()

        await until_async(closed, house.WITHIN_S)
        # The folder of the other one is out of date, and wants nothing back by itself.
        assert len(here.actions("policy_proposed")) == 1


async def test_where_the_rule_is_new_what_was_in_force_stays(tmp_path: Path) -> None:
    async with at(tmp_path, number=1) as place:
        first = str(place.status["revision"])
        code, told = await asyncio.to_thread(place.said, "ann", "activate", first)
        assert code == 2
        assert "takes force by itself" in str(told)
    async with at(tmp_path, policy=CLOSED) as place:
        await place.waiting()
        assert place.status["revision"] == first


def test_a_rule_that_nobody_could_meet_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    house.prepare(tmp_path, house.config({}, activation={"people": 2}), policy=ALLOW)
    done = CliRunner().invoke(main, ["status", "--config", str(tmp_path / "config.yaml")])
    assert done.exit_code == 2
    assert "`activation.people` is 2, and 1 can agree" in done.stderr
