"""What is kept of calls, sealed, read again, and forgotten: the real commands, on both engines."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway.types.audit import Audit, Level
from gateway.types.tools import Effect, Risk, Sensitivity
from tests.helpers import forked
from tests.helpers.fake_server import Script, tool
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.shared_postgres import PostgresServer
from tests.helpers.tampering import tamper
from tests.journeys import house

IBAN = "DE89370400440532013000"
SCHEMA = {
    "type": "object",
    "properties": {"iban": {"type": "string"}, "amount": {"type": "number"}},
}
TOOLS = [tool("pay", inputSchema=SCHEMA), tool("look", inputSchema=SCHEMA)]
POLICY = """\
rules:
  - {id: look, decision: allow, match: {tools: [alpha.look]}}
  - {id: pay, decision: allow, match: {tools: [alpha.pay]}}
"""
STRICTER = (
    POLICY
    + """\
  - id: no-abroad
    decision: deny
    match: {tools: [alpha.pay]}
    when: '!args.iban.startsWith("DE")'
"""
)


def contracts(look: Audit) -> str:
    sensitive = {"/iban": Sensitivity.SECRET}
    return house.contracts(
        house.contract(
            TOOLS[0],
            effect=Effect.WRITE,
            risk=Risk.MEDIUM,
            sensitive=sensitive,
            audit=Audit(seal=True),
        ),
        house.contract(TOOLS[1], sensitive=sensitive, audit=look),
    )


@asynccontextmanager
async def serving(
    folder: Path, url: str, *, look: Audit | None = None, **sections: Any
) -> AsyncGenerator[Gateway]:
    folder.mkdir(exist_ok=True)
    alpha = house.stdio(Script(tools=TOOLS), folder)
    if url.startswith("postgres"):  # beside a file, gateways make both by themselves
        keys = {
            "sealing": {"key": str(folder.parent / "sealing.key")},
            "checkpoints": {"key": str(folder.parent / "log.key")},
        }
        sections = {"events": keys, **sections}
    async with running(
        folder,
        house.config({"alpha": alpha}, **sections),
        policy=POLICY,
        contracts=contracts(look or Audit()),
        store=json.dumps(url),
    ) as gateway:
        await gateway.listed("alpha__pay", "alpha__look")
        yield gateway


async def call(gateway: Gateway, name: str = "pay", **arguments: Any) -> str:
    said = outcome(await gateway.call(f"alpha__{name}", arguments))
    assert said["status"] == "ok", said
    return str(said["call_id"])


def ran(gateway: Gateway, *words: str) -> tuple[int, str]:
    done = forked.ran([*words, "--config", str(gateway.folder / "config.yaml")])
    return done.returncode, (done.stdout or done.stderr).strip()


@pytest.fixture
def sealing_key(tmp_path: Path) -> Path:
    """The key that gateways on PostgreSQL share, and beside it that of their checkpoints."""
    path = tmp_path / "sealing.key"
    (tmp_path / "config.yaml").write_text("servers: {}\n")
    for words in (
        ["seal", "--file", str(path)],
        ["new", "--origin", "test/log", "--file", str(tmp_path / "log.key")],
    ):
        config = str(tmp_path / "config.yaml")
        done = forked.ran(["events", "keys", *words, "--config", config])
        assert done.returncode == 0, done.stderr
    return path


async def test_what_was_sent_is_read_with_the_key_and_forgotten_for_good(
    tmp_path: Path, store_url: str, sealing_key: Path
) -> None:
    del sealing_key
    async with serving(tmp_path / "one", store_url) as gateway:
        paid = await call(gateway, iban=IBAN, amount=12.5)
        other = await call(gateway, iban="FR7630006000011234567890189", amount=3)
        looked = await call(gateway, "look", iban=IBAN)
        events = gateway.events("--call", paid)
        assert IBAN not in json.dumps(events)
        assert events[0]["body"]["sealed"]["bytes"] > len(IBAN)
        assert events[0]["erased"] == ["/arguments/iban"]

        found = gateway.command("events", "unseal", paid)
        assert found == [{"call": paid, "arguments": {"iban": IBAN, "amount": 12.5}}]
        reads = [each["body"] for each in gateway.events("--kind", "admin")]
        assert [each["asked"] for each in reads if each.get("how") == "unseal"] == [{"call": paid}]
        assert ran(gateway, "events", "unseal", looked)[0] == 2

        shutil.copytree(tmp_path / "one/policies", tmp_path / "one/stricter")
        (tmp_path / "one/stricter/policy.yaml").write_text(STRICTER)
        replay = ("replay", "--policies", str(tmp_path / "one/stricter"))
        (before,) = gateway.command(*replay)
        assert (before["changed"], before["undecidable"]) == (1, 0), before

        assert ran(gateway, "events", "shred", "--call", other, "--reason", "Art. 17")[0] == 0
        again = ran(gateway, "events", "shred", "--call", other)
        assert again == (0, "nothing is sealed there, or all of it was shredded before")
        code, said = ran(gateway, "events", "unseal", other)
        assert (code, "shredded on 20" in said) == (1, True), said
        assert gateway.command("events", "unseal", paid) == found

        (after,) = gateway.command(*replay)
        assert (after["changed"], after["undecidable"]) == (0, 1), after
        assert "shredded on 20" in ran(gateway, *replay)[1]
        shreds = [each["body"] for each in gateway.events("--kind", "admin")]
        (shred,) = [each for each in shreds if each["action"] == "log_shredded"]
        assert (shred["call"], shred["copies"], shred["reason"]) == (other, 1, "Art. 17")
    (verified,) = gateway.command("events", "verify")
    assert (verified["whole"], verified["uncovered"]) == (True, None)
    assert IBAN.encode() not in b"".join(
        each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()
    ).replace((tmp_path / "one/alpha.calls").read_bytes(), b"")


async def test_at_metadata_no_value_is_kept_whatever_becomes_of_the_call(tmp_path: Path) -> None:
    said = "no account 7712345 of DE89370400440532013000 for jane.doe"
    steps = [{"reply": {"content": [{"type": "text", "text": said}], "isError": True}}]
    alpha = house.stdio(Script(tools=TOOLS, on_call={"pay": steps, "look": steps}), tmp_path)
    (tmp_path / "policies").mkdir()
    async with running(
        tmp_path,
        house.config({"alpha": alpha}, events={"level": "metadata"}),
        policy=POLICY,
        contracts=contracts(Audit()),
    ) as gateway:
        await gateway.listed("alpha__pay", "alpha__look")
        arguments = {"iban": IBAN, "amount": 7_712_345, "who": "jane.doe"}
        for name in ("alpha__pay", "alpha__look"):
            assert outcome(await gateway.call(name, arguments))["status"] != "ok"
        _, refused = await gateway.send(
            "tools/call", {"name": "alpha__pay", "arguments": {"iban": 7_712_345, "x": "jane.doe"}}
        )
        assert "result" in refused
        told = json.dumps(gateway.events())
        assert not [each for each in (IBAN, "7712345", "jane.doe") if each in told]
        (report,) = gateway.command("replay")
        assert (report["calls"], report["same"]) == (3, 3)


async def test_a_level_says_how_much_of_a_call_is_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one/store.db"
    async with serving(tmp_path / "one", url, look=Audit(level=Level.METADATA)) as gateway:
        looked = await call(gateway, "look", iban=IBAN, amount=77_123)
        await house.end(tmp_path / "one", looked)  # a read's events are written a moment later
        events = gateway.events("--call", looked)
        assert "77123" not in json.dumps(events)
        arguments = events[0]["body"]["arguments"]
        assert arguments["amount"] == {"$redacted": "level", "type": "integer"}
        assert events[0]["body"]["level"] == "metadata"
    async with serving(tmp_path / "one", url, events={"level": "full"}) as gateway:
        looked = await call(gateway, "look", amount=77_124)
        await house.end(tmp_path / "one", looked)
        events = gateway.events("--call", looked)
        assert events[0]["body"]["arguments"] == {"amount": 77_124}
        (end,) = [each["body"] for each in events if each["stage"] == "finished"]
        assert end["result"]["content"]


async def status_of(gateway: Gateway, name: str) -> str:
    return str(outcome(await gateway.call(name, {"iban": IBAN}))["status"])


async def test_without_its_key_what_has_to_be_sealed_is_refused_and_nothing_else(
    tmp_path: Path,
) -> None:
    url, key = f"sqlite:///{tmp_path}/one/store.db", tmp_path / "one/store.db.sealing.key"
    async with serving(tmp_path / "one", url) as gateway:
        paid = await call(gateway, iban=IBAN)
    key.rename(tmp_path / "lost")
    async with serving(tmp_path / "one", url) as gateway:
        assert await status_of(gateway, "alpha__pay") == "audit_unavailable"
        assert await status_of(gateway, "alpha__look") == "ok"
        assert not key.exists()
        (refused,) = gateway.events("--status", "audit_unavailable", "--kind", "tool_call")
        decided = gateway.events("--call", refused["call"], "--kind", "authorization")
        assert "no key" in decided[0]["body"]["sealed"]["failed"]
        code, said = ran(gateway, "doctor")
        assert (code, "there is no key for sealed copies" in said) == (1, True)
        (tmp_path / "lost").rename(key)
        assert await status_of(gateway, "alpha__pay") == "ok"
        assert gateway.command("events", "unseal", paid)[0]["arguments"] == {"iban": IBAN}
    pays = house.events(tmp_path / "one", kind="tool_call", stage="finished")
    assert len([each for each in pays if each["body"]["tool"] == "alpha.pay"]) == 2


@pytest.mark.postgres
async def test_gateways_that_share_a_database_and_the_key_open_what_each_has_sealed(
    tmp_path: Path, postgres_server: PostgresServer, sealing_key: Path
) -> None:
    with postgres_server.lent() as url:
        async with (
            serving(tmp_path / "one", url) as one,
            serving(tmp_path / "two", url) as two,
        ):
            first, second = await call(one, iban=IBAN), await call(two, iban=IBAN)
            for gateway, paid in ((two, first), (one, second)):
                (found,) = gateway.command("events", "unseal", paid)
                assert found["arguments"] == {"iban": IBAN}
            tenant = one.events("--call", first)[0]["tenant"]
            (gone,) = two.command("events", "shred", "--tenant", tenant)
            assert (gone["copies"], gone["keys"], gone["open"]) == (2, 2, [])
            assert ran(one, "events", "unseal", second)[0] == 1
            other = IBAN[::-1]  # of the first the answer is gone with the copy
            third = await call(one, iban=other)
            assert two.command("events", "unseal", third)[0]["arguments"] == {"iban": other}
            sealing_key.rename(tmp_path / "lost")
            assert ran(two, "events", "unseal", third)[0] == 2


# The event and the row beside it: a row that says another time than its event is put right.
TEN_DAYS_AGO = (
    "UPDATE sealed_copies SET at = at - 864000000000 WHERE call_id = '{call}'",
    "UPDATE events SET at = at - 864000000000, body = replace(body, "
    "substr(json_extract(body, '$.ts'), 1, 10), "
    "date(substr(json_extract(body, '$.ts'), 1, 10), '-10 days')) WHERE call_id = '{call}'",
)


async def test_what_is_old_enough_is_destroyed_by_itself(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one/store.db"
    async with serving(tmp_path / "one", url) as gateway:
        paid, later = await call(gateway, iban=IBAN), await call(gateway, iban=IBAN)
    tamper(url, *(text.format(call=paid) for text in TEN_DAYS_AGO))
    keep = {"sealing": {"keep": "1d"}}
    async with serving(tmp_path / "one", url, events=keep) as gateway:
        told = await house.event(tmp_path / "one", action="log_shredded")
        assert (told["body"]["copies"], told["body"]["by"]) == (1, "events.sealing.keep")
        assert ran(gateway, "events", "unseal", paid)[0] == 1
        assert ran(gateway, "events", "unseal", later)[0] == 0
