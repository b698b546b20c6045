"""What operators see of an identity provider whose keys can't be had."""

import asyncio
from pathlib import Path

import aiohttp

from gateway.types.tools import Effect
from tests.helpers import forked
from tests.helpers.fake_server import Script, record_of, tool, until_async
from tests.helpers.gateway import Gateway, outcome, running
from tests.helpers.issuer import key_set, public_jwk, publishing, rsa_key
from tests.journeys import house
from tests.journeys.house import Json


async def ready(gateway: Gateway, **headers: str) -> tuple[int, Json]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{gateway.admin}/readyz", headers=headers) as answer,
    ):
        return answer.status, await answer.json()


def command(folder: Path, word: str) -> str:
    """Return what a command shows to a person."""
    return forked.ran([word, "--config", str(folder / "config.yaml")]).stdout


def issuer(**more: str) -> Json:
    fields = {"issuer": "https://login.example", "audience": "a", "tenant": "acme"}
    return {"jwt": [{**fields, **more}]}


async def test_keys_that_can_not_be_had_show_before_any_caller_meets_them(tmp_path: Path) -> None:
    async with publishing(b"") as (url, published):
        published.status = 500
        config = house.config({}, identity=issuer(jwks_url=url))
        async with running(tmp_path, config) as gateway:
            await until_async(lambda: published.requests, house.WITHIN_S)

            async def warned() -> bool:
                return bool((await ready(gateway))[1]["warnings"])

            await until_async(warned, house.WITHIN_S)
            status, said = await ready(gateway)
            assert (status, said["status"], said["reasons"]) == (200, "ready", [])
            assert said["warnings"] == [f"keys of an issuer: `{url}`: the answer was HTTP 500"]
            await until_async(lambda: house.status(tmp_path).get("identity"), house.WITHIN_S)
            ((shown,),) = gateway.command("status")
            assert "HTTP 500" in shown["identity"][0]
            assert "keys of an issuer can't be had" in command(tmp_path, "status")
            (found,) = await asyncio.to_thread(gateway.command, "doctor")  # the issuer runs here
            (diagnosis,) = [one for one in found if one["part"] == "identity"]
            assert not diagnosis["ok"]
            assert "HTTP 500" in diagnosis["found"]
            assert "`identity.jwt`" in diagnosis["mend"]


async def test_keys_in_order_are_no_news(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_bytes(key_set(public_jwk(rsa_key(), "k1")))
    config = house.config({}, identity=issuer(jwks_file=str(keys)))
    async with running(tmp_path, config) as gateway:
        assert (await ready(gateway))[1]["warnings"] == []
        found = gateway.command("doctor")[0]
        assert [one["ok"] for one in found if one["part"] == "identity"] == [True]


async def test_operators_are_answered_under_names_of_this_machine_only(tmp_path: Path) -> None:
    async with running(tmp_path, house.config({})) as gateway:
        assert (await ready(gateway, Host="localhost:1"))[0] == 200
        status, said = await ready(gateway, Host="rebound.example")
        assert (status, "admin.address" in said["error"]) == (421, True)
        assert (await ready(gateway, Origin="https://evil.example"))[0] == 403


async def test_a_store_that_was_moved_away_holds_writes_until_it_is_back(tmp_path: Path) -> None:
    """case: OBS-03"""
    pay = tool("pay")
    config = house.config({"alpha": house.stdio(Script(tools=[pay]), tmp_path)})
    contracts = house.contracts(house.contract(pay, effect=Effect.WRITE))
    async with running(tmp_path, config, contracts=contracts) as gateway:
        await gateway.listed("alpha__pay")
        store, away = tmp_path / "store.db", tmp_path / "away.db"
        store.rename(away)
        for _ in range(2):
            assert outcome(await gateway.call("alpha__pay"))["status"] == "audit_unavailable"
        assert (await ready(gateway))[1]["reasons"] == ["the event log can't be written"]
        assert not store.exists()
        assert not record_of(tmp_path, "alpha").calls()
        away.rename(store)

        async def back() -> bool:
            return (await ready(gateway))[0] == 200

        await until_async(back, house.WITHIN_S)
        assert outcome(await gateway.call("alpha__pay"))["status"] == "ok"
