"""The pages on which people judge past calls by other policies."""

import re
import signal
from pathlib import Path

import anyio
import pytest

from gateway.admin.errands import RESULT
from gateway.admin.guard import HEADERS
from gateway.types.audit import Audit
from tests.admin.house import PEOPLE, Answer, Browser, open_house
from tests.admin.pasts import AUDITED, begun, ended, open_past, reported
from tests.helpers.recorded import recorded
from tests.helpers.replayed import NARROWER, OF_IBAN, WIDER


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return anyio.run(recorded, tmp_path_factory.mktemp("made")).folder


async def test_a_wider_folder_is_reported_with_a_link_to_the_call(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        path, page = await reported(ann)
        assert page.status == 200
        for shown in ("1 call would be granted more", "Grants more", "all same", "alpha.pay"):
            assert shown in page.text
        assert page.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
        [link] = {*re.findall(r'href="(/replay/calls/[^"]+)"', page.text)}
        call = (await ann.get(link)).text
        for shown in ("denied then, allowed now", "first difference", "no_matching_rule", "500"):
            assert shown in call
        assert link.startswith("/replay/calls/call_3?revision=")
        assert (await ann.get(path)).text == page.text
        assert path.replace("&", "&amp;") in (await ann.get("/replay")).text


async def test_who_replays_and_who_looks_at_a_call_is_in_the_log(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, NARROWER) as house:
        ann = await house.logged_in()
        path, page = await reported(ann)
        assert "1 call would change" in page.text
        await ann.get(re.findall(r'href="(/replay/calls/[^"]+)"', page.text)[0])
        await ann.get(path)
        first, second = await house.events("log_read")
        assert (first["how"], first["by"]) == ("page /replay", "ann")
        assert first["asked"]["revision"].startswith("sha256:")
        assert (second["how"], second["asked"]["call"]) == ("page /replay/calls/…", "call_2")


async def test_what_nobody_can_know_is_told_with_what_is_missing(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, OF_IBAN) as house:
        ann = await house.logged_in()
        _, page = await reported(ann)
        assert "Undecidable" in page.text
        unknown = page.text[page.text.index("<h2>Undecidable") :]
        link = re.findall(r'href="(/replay/calls/[^"]+)"', unknown)[0]
        call = (await ann.get(link)).text
        assert "nobody can know what now" in call
        assert "/iban" in call


async def test_a_kept_revision_is_replayed_without_the_folder(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        form = (await ann.get("/replay")).text
        [kept] = re.findall(r'<option value="([0-9a-f]{64})"[^>]*>[^<]*in force', form)
        _, page = await reported(ann, revision=kept, counters="simulated", since="")
        assert "Nothing changes for 3 calls" in page.text
        assert "limits as simulated" in page.text


async def test_a_form_with_faults_is_kept_and_nothing_begins(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path, "rules: [") as house:
        ann = await house.logged_in()
        for fields, said, status in (
            ({"since": "soon"}, "is neither a time", 400),
            ({"since": "1h", "until": "2h"}, "is not later", 400),
            ({"counters": "guessed"}, "is none of recorded, simulated", 400),
            ({"tenant": "globex"}, "is none that you see", 400),
            ({"tenant": "nowhere"}, "is none that you see", 400),
            ({"revision": "abcd" * 16}, "is not kept", 409),
            ({}, "policies/", 409),
        ):
            page = await begun(ann, **fields)
            assert (page.status, said in page.text) == (status, True), fields
            for name, value in fields.items():
                assert name in ("counters", "tenant") or value[:12] in page.text
            assert "Not begun." in page.text
        assert await house.events("log_read") == []


async def test_only_auditors_get_there(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path) as house:
        ann, ben = await house.logged_in(), await house.logged_in("ben")
        token = (await ann.get("/replay")).tokens["/replay"]
        for path in ("/replay", "/replay/report?revision=abcd", "/replay/calls/call_1"):
            page = await ben.get(path)
            assert (page.status, "admin.auditors" in page.text) == (403, True)
            assert (await house.browser().get(path)).status == 401
            assert (await ann.get(path, Authorization="Bearer wb_agent")).status == 403
        assert (await ben.post("/replay", {"token": token})).status == 403
        assert 'href="/replay"' not in (await ben.get("/runs")).text
        assert 'href="/replay"' in (await ann.get("/runs")).text


async def test_a_form_from_elsewhere_begins_and_cancels_nothing(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path) as house:
        ann = await house.logged_in()
        token = (await ann.get("/replay")).tokens["/replay"]
        foreign = {"Origin": "http://127.0.0.1:3000"}
        assert (await ann.post("/replay", {"token": token}, foreign)).status == 403
        assert (await ann.post("/replay", {})).status == 403
        assert (await ann.post("/replay/report/cancel", {"token": token})).status == 403
        assert (await ann.get("/replay/report/cancel")).status == 405
        assert await house.events("log_read") == []


async def test_calls_and_reports_of_another_tenant_are_not_there(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann, eve = await house.logged_in(), await house.logged_in("eve", "globex")
        path, _ = await reported(ann)
        gone = await eve.get("/replay/calls/call_x")
        call = await eve.get("/replay/calls/call_3")
        assert (gone.status, call.status, call.text) == (404, 404, gone.text)
        other = await eve.get(path)
        assert (other.status, "is none that you see" in other.text) == (400, True)
        assert "call_3" not in other.text
        assert "Replay under" not in (await eve.get("/replay")).text
        _, own = await reported(eve)
        assert "No call was judged in this period" in own.text


async def _once_more(browser: Browser, gone: Answer) -> Answer:
    """Ask for a report again that is not kept any more."""
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', gone.text))
    return await browser.post("/replay", {**fields, "token": gone.tokens["/replay"]})


async def test_a_report_that_is_gone_is_made_again_by_its_address(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        path, page = await reported(ann)
        house.errands.close()
        gone = await ann.get(path)
        assert (gone.status, "is not kept any more" in gone.text) == (404, True)
        again = await _once_more(ann, gone)
        assert (again.status, again.headers["Location"]) == (303, path)
        made_again = (await ended(ann, path)).text
        assert re.findall(r"<h1>.*</h1>", made_again) == re.findall(r"<h1>.*</h1>", page.text)


async def test_each_who_looks_at_a_report_is_in_the_log_once(made: Path, tmp_path: Path) -> None:
    auditors = {"auditors": [{"tenant": "acme", "roles": ["finance-lead", "controller"]}]}
    settings = {"admin": {**PEOPLE["admin"], **auditors}}
    async with open_past(made, tmp_path, WIDER, settings) as house:
        ann, ben = await house.logged_in(), await house.logged_in("ben")
        path, _ = await reported(ann)
        for _ in range(2):
            assert "Grants more" in (await ben.get(path)).text
            assert "Grants more" in (await ann.get(path)).text
        first, second = await house.events("log_read")
        assert (first["how"], first["by"]) == ("page /replay", "ann")
        assert (second["how"], second["by"]) == ("page /replay/report", "ben")
        assert second["asked"] == first["asked"]


async def test_a_report_of_other_code_can_be_made_again(made: Path, tmp_path: Path) -> None:
    async with open_past(made, tmp_path, WIDER) as house:
        ann = await house.logged_in()
        path, page = await reported(ann)
        (errand,) = house.errands.all()
        (errand.folder / RESULT).write_bytes(b'{"of_another_version":1}')
        gone = await ann.get(path)
        assert (gone.status, "is not kept any more" in gone.text) == (404, True)
        again = await _once_more(ann, gone)
        assert again.headers["Location"] == path
        made_again = (await ended(ann, path)).text
        assert re.findall(r"<h1>.*</h1>", made_again) == re.findall(r"<h1>.*</h1>", page.text)


async def test_a_person_has_one_thing_done_at_a_time_and_can_cancel_it(
    made: Path, tmp_path: Path
) -> None:
    async with open_past(made, tmp_path) as house:
        ann, eve = await house.logged_in(), await house.logged_in("eve", "globex")
        first = await begun(ann)
        (errand,) = house.errands.all()
        errand.process.send_signal(signal.SIGSTOP)  # or it is through before it is cancelled
        running = await ann.get(first.headers["Location"])
        assert 'http-equiv="refresh"' in running.text
        busy = await begun(ann, counters="simulated")
        assert (busy.status, "a person has one thing under way" in busy.text) == (409, True)
        assert (await begun(eve)).status == 303
        [key] = re.findall(r'name="key" value="(\w+)"', running.text)
        token = running.tokens["/replay/report/cancel"]
        assert key not in (await eve.get("/replay")).text
        stopped = await ann.post("/replay/report/cancel", {"token": token, "key": key})
        assert stopped.status == 303
        assert "It was cancelled" in (await ann.get(first.headers["Location"])).text


async def test_words_from_outside_are_words(tmp_path: Path) -> None:
    async with open_house(tmp_path, AUDITED) as house:
        ann = await house.logged_in()
        odd = '"><script>alert(1)</script>'
        for fields in ({"since": odd}, {"revision": odd}, {"tenant": odd}, {"counters": odd}):
            page = await begun(ann, **fields)
            assert page.status in (400, 409)
            assert "<script" not in page.text
        assert "<script" not in (await ann.get(f"/replay/report?revision={odd}&since={odd}")).text


async def test_what_is_sealed_is_judged_by_and_never_shown(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    place = await recorded(tmp_path / "made", Audit(seal=True))
    async with open_past(place.folder, tmp_path, OF_IBAN) as house:
        ann = await house.logged_in()
        _, page = await reported(ann)
        assert "1 call would be granted more" in page.text
        [link] = {*re.findall(r'href="(/replay/calls/[^"]+)"', page.text)}
        call = (await ann.get(link)).text
        assert "allowed now" in call
        assert "[redacted: secret]" in call
        for each in (page.text, call):
            assert "DE02120300000000202051" not in each
        read = [each["asked"] for each in await house.events("log_read")]
        assert [each["unsealed"] for each in read if "unsealed" in each] == [3, 1]
