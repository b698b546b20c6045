"""What requests to `/v1` may hold."""

from pathlib import Path

import pytest

from tests.admin.hosting import open_desk


@pytest.mark.parametrize(
    ("data", "status", "pointer"),
    [
        (b"{", 400, ""),
        (b'{"objective": "a", "objective": "b"}', 400, "/objective"),
        (b'{"objective": NaN}', 400, "/objective"),
        (b"[]", 422, ""),
        (b'{"objectiv": "a"}', 422, "/objectiv"),
        (b'{"objective": 1}', 422, "/objective"),
        (b'{"objective": "a\\u0000b"}', 422, "/objective"),
        (b'{"mode": "fast"}', 422, "/mode"),
        (b'{"on_behalf_of": {}}', 422, "/on_behalf_of/user"),
        (b'{"fields": {"a b": 1}}', 422, "/fields/a b/[key]"),
    ],
)
async def test_what_is_wrong_is_named_by_its_place(
    tmp_path: Path, data: bytes, status: int, pointer: str
) -> None:
    async with open_desk(tmp_path) as desk:
        answer = await desk.send("POST", "/v1/runs", data=data)
        assert answer.status == status
        assert pointer in [each["pointer"] for each in answer.body["errors"]]


async def test_what_is_wrong_is_told_with_its_mend(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        odd = await desk.send(
            "POST", "/v1/runs", data=b'{"objectiv": "a", "on_behalf_of": {"x": 1}}'
        )
        assert {each["pointer"]: each["detail"] for each in odd.body["errors"]} == {
            "/objectiv": "is not known here; did you mean `objective`?",
            "/on_behalf_of/user": "has to be there",
            "/on_behalf_of/x": "is not known here",
        }


async def test_a_body_is_json_and_no_form_and_not_too_large(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        form = await desk.send(
            "POST", "/v1/runs", data=b"a=1", Content_Type="application/x-www-form-urlencoded"
        )
        assert (form.status, form.body["code"]) == (415, "unsupported_media_type")
        large = b'{"objective": "' + b"a" * (256 << 10) + b'"}'
        assert (await desk.send("POST", "/v1/runs", data=large)).status == 413
        charset = await desk.send(
            "POST", "/v1/runs", data=b"{}", Content_Type="Application/JSON; charset=utf-8"
        )
        assert charset.status == 201
        assert (await desk.send("POST", "/v1/runs")).status == 201  # nothing is an empty object


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("phase=acting&limit=5", 200),
        ("phase=dancing", 422),
        ("limit=0", 422),
        ("since=2026-11-30T09:00:00", 422),
        ("since=2026-11-30T09:00:00Z", 200),
        ("limit=many", 422),
        ("colour=red", 422),
        ("phase=acting&phase=failed", 400),
        ("is_open=true", 200),
    ],
)
async def test_parameters_are_held_against_what_there_is(
    tmp_path: Path, query: str, status: int
) -> None:
    async with open_desk(tmp_path) as desk:
        assert (await desk.get(f"/v1/runs?{query}")).status == status


async def test_a_change_can_be_made_to_depend_on_what_was_seen(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as desk:
        run_id = await desk.started()
        path = f"/v1/runs/{run_id}"
        seen = (await desk.get(path)).headers["ETag"]
        reason = {"reason": "lunch"}
        first = await desk.post(f"{path}/pause", reason, If_Match=seen)
        assert first.status == 200
        assert first.headers["ETag"] != seen
        late = await desk.post(f"{path}/resume", If_Match=seen)
        assert (late.status, late.body["code"]) == (412, "changed")
        odd = await desk.post(f"{path}/resume", If_Match="W/1")
        assert (odd.status, odd.body["code"]) == (400, "malformed")
        assert (await desk.post(f"{path}/resume", If_Match="*")).status == 200
