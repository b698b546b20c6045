"""Turn what is unreleased into a version, by the rules of docs/how-to/releasing.md.

`python -m scripts.release` says which version it would be; with a version, it writes it.
"""

import re
import sys
from datetime import date
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
CHANGELOG: Final = ROOT / "CHANGELOG.md"
VERSION_FILE: Final = ROOT / "gateway" / "__init__.py"
SECTIONS: Final = ("Security", "Removed", "Deprecated", "Added", "Changed", "Fixed")
_UNRELEASED: Final = "## [Unreleased]"
_VERSION: Final = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
_HEADING: Final = re.compile(r"## \[(.+)\](?: - ([0-9]{4}-[0-9]{2}-[0-9]{2}))?")
_LINE: Final = re.compile(r"- (⚖ )?\S.*[.)`]")


def faults(text: str, version: str) -> list[str]:
    """Return what is wrong with a changelog, with the lines; `version` is that of the source."""
    lines = text.splitlines()
    headings = [each for each in lines if each.startswith("## ")]
    found = [] if headings[:1] == [_UNRELEASED] else [f"`{_UNRELEASED}` has to come first"]
    found += [*_versions(headings[1:], version), *_sections(lines)]
    return found


def _versions(headings: list[str], version: str) -> list[str]:
    found: list[str] = []
    before: tuple[int, ...] | None = None
    for number, heading in enumerate(headings):
        told = _HEADING.fullmatch(heading)
        if told is None or not told[2] or not _VERSION.fullmatch(told[1]):
            found.append(f"`{heading}` has to be `## [1.2.3] - 2026-11-30`")
            continue
        if number == 0 and told[1] != version:
            found.append(f"the newest is {told[1]}, and the source says {version}")
        if before is not None and _numbers(told[1]) >= before:
            found.append(f"`{heading}` is not older than what stands above it")
        before = _numbers(told[1])
    return found


def _sections(lines: list[str]) -> list[str]:
    found: list[str] = []
    place = -1
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            place = -1
        elif line.startswith("### "):
            name = line.removeprefix("### ")
            if name not in SECTIONS or SECTIONS.index(name) <= place:
                found.append(f"line {number}: sections come as {', '.join(SECTIONS)}")
            else:
                place = SECTIONS.index(name)
        elif line.startswith("- ") and not _LINE.fullmatch(line):
            found.append(f"line {number}: one change a line, as a sentence with its full stop")
        elif line and not line.startswith(("#", "- ")) and number > 4:
            found.append(f"line {number}: a change is one line that begins with `- `")
    return found


def least(text: str, version: str) -> str:
    """Return the lowest version that what is unreleased may have; the same when there is nothing.

    Before 1.0.0 a change that breaks something counts as a new feature does later, and a first
    release has the version of the source.
    """
    kinds, is_first = _unreleased(text)
    if not kinds:
        return version
    if is_first:
        return version
    major, minor, patch = _numbers(version)
    if "breaks" in kinds:
        return f"{major + 1}.0.0" if major else f"0.{minor + 1}.0"
    return f"{major}.{minor + 1}.0" if "adds" in kinds else f"{major}.{minor}.{patch + 1}"


def _unreleased(text: str) -> tuple[set[str], bool]:
    """Say what kinds of changes are unreleased, and whether nothing was ever released."""
    part = text.partition(_UNRELEASED)[2]
    until = part.find("\n## [")
    kinds: set[str] = set()
    section = ""
    for line in part[: until if until >= 0 else None].splitlines():
        if line.startswith("### "):
            section = line.removeprefix("### ")
        elif line.startswith("- "):
            breaks = section == "Removed" or line.startswith("- ⚖")
            adds = section in ("Added", "Deprecated", "Changed")
            kinds.add("breaks" if breaks else "adds" if adds else "mends")
    return kinds, until < 0


def released(text: str, version: str, day: date) -> str:
    """Return a changelog in which what was unreleased is a version."""
    return text.replace(_UNRELEASED, f"{_UNRELEASED}\n\n## [{version}] - {day.isoformat()}", 1)


def main() -> int:
    """Say the version, or write it."""
    text = CHANGELOG.read_text(encoding="utf-8")
    source = VERSION_FILE.read_text(encoding="utf-8")
    current = re.findall(r'__version__ = "([^"]+)"', source)[0]
    wanted = least(text, current)
    if len(sys.argv) < 2:
        print(f"{current} → at least {wanted}")
        return 0
    version = sys.argv[1]
    problem = _refused(text, version, current, wanted)
    if problem:
        print(f"scripts.release: {problem}", file=sys.stderr)
        return 2
    CHANGELOG.write_text(released(text, version, date.today()), encoding="utf-8")
    VERSION_FILE.write_text(source.replace(f'"{current}"', f'"{version}"'), encoding="utf-8")
    print(f"{version}: look at the difference, commit it, and tag it v{version}")
    return 0


def _refused(text: str, version: str, current: str, wanted: str) -> str:
    if found := faults(text, current):
        return found[0]
    if not _VERSION.fullmatch(version):
        return f"`{version}` is no version; write it as `1.2.3`"
    if not _unreleased(text)[0]:
        return "nothing is unreleased; there is nothing to release"
    if _numbers(version) < _numbers(wanted):
        return f"`{version}` is too low for what changed; it takes {wanted} at least"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    sys.exit(main())
