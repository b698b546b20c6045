"""Reads the tables of docs/reference/telemetry.md."""

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "telemetry.md"


def rows(heading: str) -> set[tuple[str, ...]]:
    """The body rows of the first table under a heading, cells without outer blanks."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return {tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]}
