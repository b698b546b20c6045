"""No link of a page leads nowhere."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tests.docs import pages
from tests.docs.pages import DOCS, ROOT, Link


def fault(link: Link) -> str:
    """Say what is wrong with a link inside of the repository."""
    path, _, anchor = link.target.partition("#")
    target = (link.page.parent / unquote(path)).resolve() if path else link.page
    if not target.exists():
        return f"{link.place}: nothing is at `{link.target}`"
    if not target.is_relative_to(ROOT):
        return f"{link.place}: `{link.target}` leads out of the repository"
    if anchor and target.suffix == ".md" and anchor not in pages.page(target).anchors:
        return f"{link.place}: no heading for `{link.target}`"
    return ""


def links() -> Iterator[Link]:
    for path in pages.paths():
        yield from pages.page(path).links


def test_every_link_inside_of_the_repository_leads_somewhere() -> None:
    found = [fault(link) for link in links() if not link.is_outside]
    assert len(found) > 300
    assert not [each for each in found if each]


def test_a_link_that_leads_nowhere_is_found() -> None:
    for target in ("none.md", "README.md#nothing-here", "#nor-here", "../../elsewhere.md"):
        assert fault(Link(page=DOCS / "README.md", line=1, target=target))


def test_links_to_other_places_are_encrypted_or_of_this_machine() -> None:
    plain = [link.place for link in links() if link.target.startswith("http://")]
    assert not plain


def reached() -> set[Path]:
    """Return what a reader of the index comes to by links between pages."""
    seen: set[Path] = set()
    ahead = [DOCS / "README.md"]
    while ahead:
        path = ahead.pop()
        if path in seen or not path.exists():
            continue
        seen.add(path)
        if path.suffix == ".md":
            ahead += [
                (path.parent / unquote(link.target.partition("#")[0])).resolve()
                for link in pages.page(path).links
                if not link.is_outside and not link.target.startswith("#")
            ]
    return seen


def test_every_page_and_every_picture_is_reached_from_the_index() -> None:
    files = [*DOCS.rglob("*.md"), *DOCS.rglob("*.png"), *(DOCS / "reference/events").glob("*.json")]
    seen = reached()
    assert not [str(path.relative_to(ROOT)) for path in files if path not in seen]


def test_the_index_names_every_page_itself() -> None:
    named = {
        (DOCS / link.target.partition("#")[0]).resolve()
        for link in pages.page(DOCS / "README.md").links
        if not link.is_outside
    }
    decisions = DOCS / "adr"
    others = [path for path in DOCS.rglob("*.md") if decisions not in path.parents]
    missing = [path for path in others if path not in named and path != DOCS / "README.md"]
    assert not [str(path.relative_to(ROOT)) for path in missing]


def test_every_decision_is_in_its_list_with_a_number_of_its_own() -> None:
    files = sorted(path for path in (DOCS / "adr").glob("0*.md"))
    numbers = [path.name[:4] for path in files]
    assert len(numbers) == len({*numbers})
    text = (DOCS / "adr/README.md").read_text(encoding="utf-8")
    assert not [path.name for path in files if f"({path.name})" not in text]
    assert not [path.name for path in files if "Status: " not in path.read_text(encoding="utf-8")]


def test_every_picture_is_made_by_an_end_to_end_test() -> None:
    makers = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/e2e").glob("*.py"))
    assert not [path.name for path in DOCS.rglob("*.png") if path.stem not in makers]
