"""Replays of a run, over other definitions, and beside the difference of two policies."""

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.actions.departures import Departed
from gateway.admin.auditors import Sight
from gateway.admin.rendering import Pages
from tests.admin.pasts import begun, ended, open_past, reported
from tests.helpers.cases import NOW
from tests.helpers.recorded import PAY, recorded
from tests.helpers.replayed import WIDER


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return anyio.run(recorded, tmp_path_factory.mktemp("made")).folder


async def test_other_definitions_are_pasted_and_a_run_is_replayed_alone(
    made: Path, tmp_path: Path
) -> None:
    renamed = {"tools": [{**PAY, "name": "pay_out"}]}
    gone = json.dumps({"alpha": renamed})
    async with open_past(made, tmp_path) as house:
        ann = await house.logged_in()
        path, page = await reported(ann, schemas=gone)
        assert "definitions=" in path
        assert "pay_out" in page.text
        assert (await ann.get(path)).text == page.text
        refused = await begun(ann, schemas="{")
        assert (refused.status, "no JSON" in refused.text, "{</textarea>" in refused.text) == (
            *(400, True, True),
        )
        unplaced = await begun(ann, schemas=json.dumps(renamed))
        assert "names no server" in unplaced.text
        assert "one list for each server" in unplaced.text
        unknown = await begun(ann, schemas=json.dumps({"elsewhere": {"tools": [PAY]}}))
        assert "no server `elsewhere` is known" in unknown.text.replace("&#39;", "'")
        lost = await ann.get(path.replace("definitions=", "definitions=" + "0" * 64 + "&x="))
        assert (lost.status, "paste them again" in lost.text) == (404, True)
        _, alone = await reported(ann, run="run_nobody")
        assert "No call was judged in this period" in alone.text
        assert "--run run_nobody" in alone.text
        reads = await house.events("log_read")
        assert len(reads[0]["asked"]["definitions"]) == 64
        assert reads[-1]["asked"]["run"] == "run_nobody"


async def test_a_change_of_policy_has_what_it_does_to_past_calls_beside_it(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        form = (await ann.get("/policies")).text
        [old] = {*re.findall(r'<option value="([0-9a-f]{64})" selected', form)}
        page = await ann.get(f"/policies/diff?old={old}&new=folder")
        assert "Calls of the past" in page.text
        token = page.tokens["/policies/diff"]
        fields = {"token": token, "part": "past", "old": old, "new": "folder", "since": "30d"}
        wrong = await ann.post("/policies/diff", {**fields, "since": "soon"})
        assert (wrong.status, "is neither a time" in wrong.text) == (400, True)
        answer = await ann.post("/policies/diff", fields)
        assert answer.status == 303
        found = await ended(ann, answer.headers["Location"])
        for shown in ("<h3>1 call would be granted more</h3>", "This report alone", "Find out"):
            assert shown in found.text
        assert [each["how"] for each in await house.events("log_read")] == ["page /replay"]
        ben = await house.logged_in("ben")
        assert (await ben.get(answer.headers["Location"])).status == 403


async def test_who_sees_all_is_told_the_names_of_archives_and_others_that_there_are_some() -> None:
    pages: Any = Pages()
    parts = pages._environment.get_template("parts.html").module
    left = Departed(size=1_512, at=NOW, files=("<b>.archive",))
    told = [
        str(parts.departed(each, sight))
        for each in (left, None)
        for sight in (Sight(own="a", tenants=frozenset(), is_all=True), Sight(own="a"))
    ]
    assert "Events 1 to 1,512 left the log for archives" in told[0]
    assert "&lt;b&gt;.archive" in told[0]
    assert "Events 1 to 1,512 left the log" in told[1]
    assert "b&gt;.archive" not in told[1]
    assert [each.strip() for each in told[2:]] == ["", ""]
