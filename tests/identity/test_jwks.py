import json
from pathlib import Path

import anyio
import pytest

from gateway.identity.jwks import FileKeys, UrlKeys
from gateway.identity.keys import MAX_BYTES, KeysUnavailable
from tests.helpers.issuer import HandClock, key_set, public_jwk, publishing, rsa_key

FIRST, SECOND = rsa_key(), rsa_key()
OLD = key_set(public_jwk(FIRST, "k1"))
BOTH = key_set(public_jwk(FIRST, "k1"), public_jwk(SECOND, "k2"))
NEW = key_set(public_jwk(SECOND, "k2"))


async def kids(keys: UrlKeys, kid: str) -> list[str]:
    return [key.kid for key in await keys.keys(kid=kid)]


async def test_keys_are_fetched_once_and_kept_as_long_as_they_are_fresh() -> None:
    clock = HandClock()
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=clock)
        for _ in range(3):
            assert await kids(keys, "k1") == ["k1"]
            clock.move(199)
        assert published.requests == 1
        clock.move(10)
        assert await kids(keys, "k1") == ["k1"]
        assert published.requests == 2


async def test_a_rotated_key_is_found_at_once() -> None:
    clock = HandClock()
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=clock)
        await keys.keys(kid="k1")
        published.body = NEW
        clock.move(11)
        assert await kids(keys, "k2") == ["k2"]
        assert published.requests == 2


async def test_unknown_key_ids_cannot_cause_a_fetch_each() -> None:
    clock = HandClock()
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=clock)
        for number in range(50):
            assert await kids(keys, f"junk-{number}") == ["k1"]
        assert published.requests == 1
        clock.move(11)
        await keys.keys(kid="junk")
        assert published.requests == 2


async def test_many_callers_at_once_cause_one_fetch() -> None:
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=HandClock())
        asked, go_on = anyio.Event(), anyio.Event()

        async def hold() -> None:
            asked.set()
            await go_on.wait()

        published.before = hold
        seen: list[list[str]] = []

        async def ask() -> None:
            seen.append(await kids(keys, "k1"))

        with anyio.fail_after(15):
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(ask)
                await asked.wait()
                go_on.set()
        assert seen == [["k1"]] * 20
        assert published.requests == 1


async def test_while_one_caller_renews_the_others_go_on_with_the_keys_at_hand() -> None:
    clock = HandClock()
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=clock)
        await keys.keys(kid="k1")
        clock.move(601)
        asked, go_on = anyio.Event(), anyio.Event()

        async def hold() -> None:
            asked.set()
            await go_on.wait()

        published.before, published.body = hold, BOTH
        with anyio.fail_after(15):
            async with anyio.create_task_group() as group:
                group.start_soon(kids, keys, "k1")
                await asked.wait()
                assert await kids(keys, "k1") == ["k1"]
                go_on.set()
        assert await kids(keys, "k1") == ["k1", "k2"]


async def test_a_caller_that_goes_away_leaves_nothing_held() -> None:
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=HandClock())
        asked, go_on = anyio.Event(), anyio.Event()

        async def hold() -> None:
            asked.set()
            await go_on.wait()

        published.before = hold
        with anyio.fail_after(15):
            async with anyio.create_task_group() as group:
                group.start_soon(kids, keys, "k1")
                await asked.wait()
                group.cancel_scope.cancel()
            published.before = None
            assert await kids(keys, "k1") == ["k1"]
            go_on.set()


async def test_the_last_keys_hold_for_an_hour_while_the_issuer_is_down() -> None:
    clock = HandClock()
    async with publishing(OLD) as (url, published):
        keys = UrlKeys(url, clock=clock)
        await keys.keys(kid="k1")
        published.status = 500
        clock.move(601)
        assert await kids(keys, "k1") == ["k1"]
        assert "HTTP 500" in keys.failure
        clock.move(3600)
        with pytest.raises(KeysUnavailable, match="HTTP 500"):
            await keys.keys(kid="k1")
        published.status = 200
        clock.move(11)
        assert await kids(keys, "k1") == ["k1"]
        assert keys.failure == ""


@pytest.mark.parametrize(
    ("max_age", "fresh_s"),
    [("max-age=1", 60), ("public, max-age=900", 900), ("max-age=99999", 3600)],
)
async def test_cache_control_is_followed_within_bounds(max_age: str, fresh_s: int) -> None:
    clock = HandClock()
    async with publishing(OLD) as (url, published):
        published.headers = {"Cache-Control": max_age}
        keys = UrlKeys(url, clock=clock)
        await keys.keys(kid="k1")
        clock.move(fresh_s - 1)
        await keys.keys(kid="k1")
        assert published.requests == 1
        clock.move(2)
        await keys.keys(kid="k1")
        assert published.requests == 2


@pytest.mark.parametrize(
    ("body", "status", "headers", "reason"),
    [
        (b"<html>", 200, {}, "not JSON"),
        (b'{"keys":[]}', 200, {}, "no public key"),
        (b" " * (MAX_BYTES + 1), 200, {}, "larger than"),
        (OLD, 200, {"Content-Encoding": "gzip"}, "compressed"),
        (OLD, 302, {"Location": "http://127.0.0.1:1/"}, "HTTP 302"),
        (OLD, 404, {}, "HTTP 404"),
    ],
)
async def test_an_answer_that_is_no_key_set_is_refused(
    body: bytes, status: int, headers: dict[str, str], reason: str
) -> None:
    async with publishing(body) as (url, published):
        published.status, published.headers = status, headers
        with pytest.raises(KeysUnavailable, match=reason):
            await UrlKeys(url, clock=HandClock()).keys(kid="k1")


async def test_an_issuer_that_nobody_answers_for_is_a_reason_and_no_crash() -> None:
    async with publishing(OLD) as (url, _):
        pass
    with pytest.raises(KeysUnavailable, match="while fetching"):
        await UrlKeys(url, clock=HandClock()).keys(kid="k1")


async def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_bytes(OLD)
    keys = FileKeys(path)
    assert [key.kid for key in await keys.keys(kid="k1")] == ["k1"]
    path.write_bytes(BOTH)
    assert [key.kid for key in await keys.keys(kid="k2")] == ["k1", "k2"]


async def test_a_broken_change_of_a_file_leaves_the_old_keys_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "jwks.json"
    path.write_bytes(OLD)
    keys = FileKeys(path)
    await keys.keys(kid="k1")
    path.write_text(json.dumps({"keys": "none"}), encoding="utf-8")
    assert [key.kid for key in await keys.keys(kid="k1")] == ["k1"]
    assert "not a key set" in keys.failure
    path.write_bytes(NEW)
    assert [key.kid for key in await keys.keys(kid="k2")] == ["k2"]
    assert keys.failure == ""


async def test_a_missing_file_is_no_key_set(tmp_path: Path) -> None:
    with pytest.raises(KeysUnavailable, match=r"none\.json"):
        await FileKeys(tmp_path / "none.json").keys(kid="k1")
