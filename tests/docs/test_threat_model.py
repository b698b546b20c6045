"""Every claim of the threat model names what holds it, and that is there."""

import re

from tests.docs import pages
from tests.docs.pages import ROOT

PAGE = pages.DOCS / "explanation" / "threat-model.md"
HOLDER = re.compile(r"`([\w/]+\.py)(?:::(test_\w+))?`")


def claims() -> list[tuple[str, str]]:
    """Return the rows of the tables of claims: what is said, and what holds it."""
    rows = re.findall(r"^\| (.+?) \| (`[^|]+\.py[^|]*`) \|$", pages.page(PAGE).prose, re.MULTILINE)
    return [(claim, holder) for claim, holder in rows]


def missing(holder: str) -> str:
    """Say what of a holder is not there."""
    found = HOLDER.fullmatch(holder)
    if found is None:
        return f"{holder} is no test and no module"
    path = ROOT / found[1] if found[1].startswith("gateway/") else ROOT / "tests" / found[1]
    if not path.exists():
        return f"{found[1]} is not there"
    has_it = found[2] is None or f"def {found[2]}(" in path.read_text(encoding="utf-8")
    return "" if has_it else f"{found[1]} has no {found[2]}"


def test_whatever_holds_a_claim_is_there() -> None:
    assert len(claims()) > 50
    assert not [told for _, holder in claims() if (told := missing(holder))]


def test_every_row_under_a_heading_of_claims_names_its_holder() -> None:
    tables = pages.page(PAGE).prose.split("| claim | held by |")[1:]
    rows = [row for table in tables for row in table.split("\n\n")[0].splitlines()[2:]]
    assert len(rows) == len(claims())


def test_a_holder_that_is_gone_is_found() -> None:
    assert missing("`journeys/test_none.py`")
    assert missing("`journeys/test_once.py::test_none`")
