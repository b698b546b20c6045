"""Regenerate the reference pages from the code; with `--check`, say which are out of date."""

import json
import sys
from pathlib import Path

from gateway.actions import export_reference, file_schemas
from gateway.admin import openapi
from gateway.config import reference as config_reference
from gateway.events import schemas as event_schemas
from gateway.policy.methods import USE
from gateway.results import envelope
from gateway.types import outcomes
from gateway.yamltext.editors import KINDS
from scripts import errors, pages_cli, pages_events, pages_keys, pages_rest

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"


def statuses() -> str:
    """Return the page of statuses."""
    rows = [
        "# Statuses",
        "",
        "Every call ends with one of these; each that is no success belongs to one error class.",
        "Generated from `gateway/types/outcomes.py`.",
        "",
        "| status | error class | retryable | next |",
        "| --- | --- | --- | --- |",
    ]
    for status, row in outcomes.TABLE.items():
        error_class = row.error_class.value if row.error_class is not None else "–"
        retryable = "yes" if row.retryable else "no"
        rows.append(f"| `{status.value}` | {error_class} | {retryable} | {row.next or '–'} |")
    rows += [
        "",
        "The names speak of tools and hold for resources, templates and prompts too, as far as "
        "they apply: a URI or a prompt that doesn't exist, or that the caller may not see, is "
        "`unknown_tool` as well. An answer's own `code` then says what was named "
        f"({_codes()}), and its `next` which list to look at; where an answer gives a `next` of "
        "its own, that one counts.",
        "",
        "What is known to have taken effect is never `indeterminate`. A repeated call of one whose "
        "answer was lost (`answer_lost`, of a tool with an output schema) or is no longer kept "
        "(`outcome_lost`) ends as `result_invalid` with `executed: yes`: there is no result that "
        "its schema would take, and its `next` says to read what the call made.",
    ]
    return "\n".join(rows) + "\n"


def _codes() -> str:
    """Return the codes of unknown names, one for each kind of thing that can be named."""
    codes = {envelope.missing("", method).code for method in USE.values()}
    return ", ".join(f"`{code}`" for code in sorted(codes))


def pages() -> dict[Path, str]:
    """Return every generated page with its text."""
    found = {
        REFERENCE / "statuses.md": statuses(),
        REFERENCE / "errors.md": errors.render(),
        REFERENCE / "config.md": config_reference.render(),
        REFERENCE / "event-exports.md": export_reference.render(),
        REFERENCE / "cli.md": pages_cli.render(),
        REFERENCE / "contract-keys.md": pages_keys.contracts(),
        REFERENCE / "policy-keys.md": pages_keys.policy(),
        REFERENCE / "event-fields.md": pages_events.render(),
        REFERENCE / "rest.md": pages_rest.render(),
    }
    api = json.dumps(openapi.document(), indent=2, ensure_ascii=False)
    found[REFERENCE / "api.json"] = f"{api}\n"
    for name in KINDS:
        found[REFERENCE / "schemas" / f"{name}.json"] = file_schemas.render(name)
    for kind in event_schemas.KINDS:
        path = REFERENCE / "events" / event_schemas.file_name(kind)
        found[path] = event_schemas.render(kind).decode()
    return found


def main() -> int:
    """Write the pages, or compare them."""
    write = "--write" in sys.argv
    stale = [path for path, text in pages().items() if not _same(path, text)]
    for path in stale:
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages()[path])
        print(f"{path.relative_to(ROOT)}: {'written' if write else 'out of date; run scripts/fix'}")
    return 1 if stale and not write else 0


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
