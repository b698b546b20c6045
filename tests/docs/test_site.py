"""What the generator of the site is given; scripts/e2e follows what it makes of it."""

from pathlib import Path

from scripts import site
from tests.docs.pages import DOCS


def test_the_navigation_has_every_page_once_in_the_order_of_the_index() -> None:
    parts = {title: pages for part in site.navigation() for title, pages in part.items()}
    found = [page for pages in parts.values() for page in pages]
    assert sorted(found) == sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
    assert [*parts][1:] == ["Tutorial", "How to", "Reference", "Explanation", "Decisions"]


def test_links_out_of_the_pages_lead_to_the_repository_and_others_stay() -> None:
    text = site.laid_out(DOCS / "README.md")
    assert "](https://github.com/weighbridge/weighbridge/blob/main/CHANGELOG.md)" in text
    assert "](tutorial/first-hour.md)" in text


def test_a_page_is_given_as_it_is_but_for_links_and_what_is_below_numbers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("1. one\n\n   ```sh\n   [x](../../y.md)\n   ```\n\ntwo\n\n   three\n")
    assert site.laid_out(page) == (
        "1. one\n\n    ```sh\n    [x](../../y.md)\n    ```\n\ntwo\n\n   three\n"
    )
