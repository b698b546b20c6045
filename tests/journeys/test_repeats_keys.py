"""Keys that callers give their calls: good for one request of one host."""

from collections.abc import Awaitable, Callable

import pytest

from tests.helpers.gateway import outcome
from tests.journeys import house
from tests.journeys.house import Json
from tests.journeys.shop import ANA, BO, CY, ERAS, HEADER, KEY, Place, fresh, place, sent

__all__ = ["place"]


Put = Callable[..., Awaitable[Json]]


def keyed(client: house.ModernHttp | house.LegacyHttp, how: str, key: str) -> Put:
    """Return a way to call tools of the server `modern` under a key."""

    async def put(arguments: Json, name: str = "put_item") -> Json:
        if how == "meta":
            return await house.call(client, f"modern__{name}", arguments, _meta={KEY: key})
        client.headers[HEADER] = key
        try:
            return await house.call(client, f"modern__{name}", arguments)
        finally:
            del client.headers[HEADER]

    return put


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["meta", "header"])
async def test_a_key_is_good_for_one_request(place: Place, era: str, how: str) -> None:
    """case: IDM-04"""
    fake, asked, other = place.fake("modern"), fresh() | {"note": "a"}, fresh() | {"note": "a"}
    null: Json = {"w": None, **asked}
    async with house.client(place.gateway, era) as client:
        put = keyed(client, how, f"one-{era}-{how}")
        first = await put(asked)
        refused = [await put(other), await put(null), await put(asked, "del_item")]
        again = await put(dict(reversed(asked.items())))
    for said in map(outcome, refused):
        assert (said["status"], said["executed"]) == ("idempotency_conflict", "no")
        assert "new idempotency key" in said["next"]
    assert outcome(refused[0])["details"] == [{"pointer": "/v"}]
    assert outcome(refused[1])["details"] == [{"pointer": "/w"}]
    assert (again["structuredContent"], outcome(again)["replayed"]) == (
        first["structuredContent"],
        True,
    )
    assert sent(fake, "put_item", asked) == 1
    assert [sent(fake, "put_item", each) for each in (other, null)] == [0, 0]
    assert sent(fake, "del_item", asked) == 0


@pytest.mark.parametrize("era", ERAS)
async def test_a_key_stays_with_its_host_and_is_the_same_in_both_places(
    place: Place, era: str
) -> None:
    """case: IDM-04"""
    fake, asked, key = place.fake("modern"), fresh(), f"both-{era}"
    async with house.client(place.gateway, era) as client:
        await keyed(client, "header", f'"{key}"')(asked)
        again = await keyed(client, "meta", key)(asked)
        assert outcome(again)["replayed"] is True
        client.headers[HEADER] = key
        for given, status in ((key, "ok"), ("another", "invalid_arguments")):
            found = await house.call(client, "modern__put_item", asked, _meta={KEY: given})
            assert outcome(found)["status"] == status
        assert outcome(found)["code"] == "idempotency_key"
    assert sent(fake, "put_item", asked) == 1
    [message] = [each for each in fake.calls() if each["params"]["arguments"] == asked]
    assert HEADER.lower() not in message["headers"]
    assert KEY not in message["params"].get("_meta", {})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["meta", "header"])
@pytest.mark.parametrize("key", ["", "k" * 201, "ä"])
async def test_a_key_that_is_none_is_refused_and_nothing_sent(
    place: Place, era: str, how: str, key: str
) -> None:
    """case: IDM-05"""
    fake, asked = place.fake("modern"), fresh()
    async with house.client(place.gateway, era) as client:
        said = outcome(await keyed(client, how, key)(asked))
    assert (said["status"], said["code"]) == ("invalid_arguments", "idempotency_key")
    assert "idempotency key" in said["reason"]
    assert sent(fake, "put_item", asked) == 0


async def test_one_key_of_different_tenants_callers_and_servers_is_different_keys(
    place: Place,
) -> None:
    """case: IDM-05"""
    place.fake("modern")
    place.fake("legacy")
    calls = [(ANA, "modern"), (BO, "modern"), (CY, "modern"), (ANA, "legacy")]
    arguments = [fresh() for _ in calls]
    for is_repeated in (False, True):
        for (key, server), asked in zip(calls, arguments, strict=True):
            found = await house.call(
                place.by(key), f"{server}__put_item", asked, _meta={KEY: "order-1"}
            )
            assert found["structuredContent"]["arguments"] == asked
            assert outcome(found).get("replayed", False) is is_repeated
    # Nor does a caller learn from a conflict that another one has used a key.
    said = outcome(
        await house.call(place.by(CY), "modern__put_item", arguments[1], _meta={KEY: "order-1"})
    )
    assert said["status"] == "idempotency_conflict"
    own = outcome(await house.call(place.by(CY), "modern__put_item", arguments[1]))
    assert "replayed" not in own
