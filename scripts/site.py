"""Lay out the pages for the generator of the site: pages, configuration and navigation.

The pages are those of `docs/`, word for word, but for two things that the generator reads
otherwise than GitHub does: links out of `docs/` lead to the repository, and what is indented below
a number is indented by four.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/weighbridge/weighbridge/blob/main/"
_LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )([^)#\s]+)(#[^)\s]*)?")
_CODE = re.compile(r"(`+)(?:(?!\1).)+\1")

_CONFIG = """\
[project]
site_name = "Weighbridge"
site_description = "An MCP tool gateway: every tool call is weighed before it crosses"
repo_url = "https://github.com/weighbridge/weighbridge"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
nav = {nav}

[project.theme]
features = ["navigation.sections", "navigation.top", "content.code.copy", "search.highlight"]
font = false

[project.markdown_extensions.admonition]
[project.markdown_extensions.attr_list]
[project.markdown_extensions.tables]
[project.markdown_extensions.pymdownx.superfences]
[project.markdown_extensions.pymdownx.highlight]
[project.markdown_extensions.toc]
permalink = true
slugify = {{object = "pymdownx.slugs.slugify", kwds = {{case = "lower"}}}}
"""


def main() -> int:
    """Write everything into the folder that is named."""
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted(DOCS.rglob("*")):
        if path.is_dir():
            continue
        place = target / "pages" / path.relative_to(DOCS)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            place.write_text(laid_out(path), encoding="utf-8")
        else:
            shutil.copyfile(path, place)
    first, *rest = navigation()
    parts = [{title: pages[0] for title, pages in first.items()}, *rest]
    nav = json.dumps(parts, ensure_ascii=False)
    # An inline table of TOML has `=` where JSON has `:`.
    nav = re.sub(r'\{("(?:[^"\\]|\\.)*"): ', r"{\1 = ", nav)
    (target / "zensical.toml").write_text(_CONFIG.format(nav=nav), encoding="utf-8")
    return 0


def laid_out(path: Path) -> str:
    """Return a page as the generator reads it."""
    lines: list[str] = []
    fence, numbered = "", False
    for line in path.read_text(encoding="utf-8").splitlines():
        stripped = line.strip()
        if not fence and re.match(r"\d+\. ", line):
            numbered = True
        elif not fence and stripped and not line.startswith(" "):
            numbered = False
        if stripped.startswith("```"):
            fence = "" if fence else "```"
        text = line if fence else _elsewhere(line, path)
        lines.append(f" {text}" if numbered and text.startswith("   ") else text)
    return "\n".join(lines) + "\n"


def _elsewhere(line: str, path: Path) -> str:
    """Turn the links of a line that leave `docs/` to the repository; code stays as it is."""

    def turned(found: re.Match[str]) -> str:
        target = found[2]
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        place = (path.parent / target).resolve()
        if place.is_relative_to(DOCS) and place.is_file():
            return found[0]
        inside = os.path.relpath(place, ROOT)
        return f"{found[1]}{REPOSITORY}{inside}{found[3] or ''}"

    pieces, at = [], 0
    for code in _CODE.finditer(line):
        if line[code.end() : code.end() + 2] == "](":
            continue  # the text of a link
        pieces += [_LINK.sub(turned, line[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*pieces, _LINK.sub(turned, line[at:])])


def navigation() -> Iterator[dict[str, list[str]]]:
    """Yield what the index names, part by part, in its order."""
    yield {"Weighbridge": ["README.md"]}
    title, pages = "", list[str]()
    seen: set[str] = set()  # a page stands where it is named first
    for line in (DOCS / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            if pages:
                yield {title: pages}
            title, pages = line[3:], []
        elif line.startswith("- ") or line.startswith("  ["):
            targets = [link[2] for link in _LINK.finditer(line)]
            new = [each for each in targets if each.endswith(".md") and each not in seen]
            pages += [each for each in new if not each.startswith(".")]
            seen |= {*new}
    yield {title: pages}
    decisions = sorted(
        (DOCS / "adr").glob("*.md"), key=lambda path: (path.name != "README.md", path.name)
    )
    yield {"Decisions": [f"adr/{path.name}" for path in decisions]}


if __name__ == "__main__":
    sys.exit(main())
