"""The pages of policies."""

import re
from pathlib import Path

import anyio
import pytest

from gateway.admin.guard import HEADERS
from tests.admin.pasts import ended, open_past
from tests.helpers.recorded import recorded
from tests.helpers.replayed import WIDER


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return anyio.run(recorded, tmp_path_factory.mktemp("made")).folder


async def test_what_was_in_force_is_listed_and_shown_with_its_files(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path) as house:
        ann = await house.logged_in()
        page = await ann.get("/policies")
        assert "in force" in page.text
        assert page.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
        [path] = {*re.findall(r'href="(/policies/[0-9a-f]{64})"', page.text)}
        policy = await ann.get(path)
        assert "args.amount &lt;= 100.0" in policy.text
        assert (await ann.get(path[:30])).text == policy.text
        for name in ("abcd", "x", "%25", "sha256:"):
            assert (await ann.get(f"/policies/{name}")).status == 404


async def test_the_files_are_compared_at_once_and_what_they_do_in_a_moment(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        form = (await ann.get("/policies")).text
        [old] = {*re.findall(r'<option value="([0-9a-f]{64})" selected', form)}
        page = await ann.get(f"/policies/diff?old={old}&new=folder")
        for shown in ("args.amount &lt;= 100.0", "args.amount &lt;= 1000.0", "Find out"):
            assert shown in page.text
        fields = dict(re.findall(r'type="hidden" name="(old|new)" value="([^"]*)"', page.text))
        token = page.tokens["/policies/diff"]
        begun = await ann.post("/policies/diff", {"token": token, **fields})
        assert begun.status == 303
        found = await ended(ann, begun.headers["Location"])
        assert "1 change grants more" in found.text
        assert "no proof" in found.text
        again = await ann.post("/policies/diff", {"token": token, **fields})
        assert again.headers["Location"] == begun.headers["Location"]


async def test_what_is_worked_out_can_be_cancelled(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        [old] = {*re.findall(r'value="([0-9a-f]{64})" selected', (await ann.get("/policies")).text)}
        token = (await ann.get(f"/policies/diff?old={old}")).tokens["/policies/diff"]
        begun = await ann.post("/policies/diff", {"token": token, "old": old, "new": "folder"})
        running = await ann.get(begun.headers["Location"])
        [key] = re.findall(r'name="key" value="(\w+)"', running.text)
        token = running.tokens["/policies/diff/cancel"]
        for name, status in (("nothing", 404), (key, 303)):
            done = await ann.post("/policies/diff/cancel", {"token": token, "key": name})
            assert done.status == status
        assert "Find out" in (await ann.get(begun.headers["Location"])).text


async def test_without_policies_to_compare_the_form_is_shown(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path) as house:
        ann = await house.logged_in()
        for path in ("/policies/diff", "/policies/diff?new=folder", "/policies/diff?old="):
            page = await ann.get(path)
            assert (page.status, page.headers["Location"]) == (303, "/policies")


async def test_the_same_policy_differs_in_nothing(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path) as house:
        ann = await house.logged_in()
        [old] = {*re.findall(r'value="([0-9a-f]{64})" selected', (await ann.get("/policies")).text)}
        page = await ann.get(f"/policies/diff?old={old}&new={old}")
        assert "They are the same" in page.text
        assert (await ann.get("/policies/diff?old=abcd&new=folder")).status == 404


async def test_only_auditors_get_there_and_forms_come_from_here(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path) as house:
        ann, ben = await house.logged_in(), await house.logged_in("ben")
        for path in ("/policies", "/policies/abcd", "/policies/diff?old=a"):
            assert (await ben.get(path)).status == 403
            assert (await house.browser().get(path)).status == 401
            assert (await ann.get(path, Authorization="Bearer wb_agent")).status == 403
        for path in ("/policies/diff", "/policies/diff/cancel"):
            assert (await ann.post(path, {"old": "a"})).status == 403
            foreign = {"Origin": "http://127.0.0.1:3000"}
            assert (await ann.post(path, {"token": "x"}, foreign)).status == 403


async def test_files_that_can_not_be_used_are_told_with_the_place(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, "rules: 7 # <script>\n") as house:
        ann = await house.logged_in()
        [old] = {*re.findall(r'value="([0-9a-f]{64})" selected', (await ann.get("/policies")).text)}
        page = await ann.get(f"/policies/diff?old={old}")
        assert "<script" not in page.text
        token = page.tokens["/policies/diff"]
        begun = await ann.post("/policies/diff", {"token": token, "old": old, "new": "folder"})
        assert (begun.status, "policies/" in begun.text) == (409, True)
