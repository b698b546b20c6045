"""Look into a wheel and an sdist: what has to be in them is, and nothing else."""

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from gateway import __version__

ROOT = Path(__file__).resolve().parent.parent
# What code reads at run time and no import would miss, by the endings that it has.
DATA = (".sql", ".html", ".css", ".js", ".svg", ".typed", ".txt", ".yaml", ".py")
STRANGE = re.compile(r"__pycache__|\.pyc$|\.db$|(^|/)\.venv|node_modules|tests/e2e/cache|\.env$")


def main() -> int:
    """Check the files of a folder; print what is wrong with them."""
    folder = Path(sys.argv[1])
    wrong = [*of_wheel(folder), *of_sdist(folder)]
    for each in wrong:
        print(f"scripts/package: {each}", file=sys.stderr)
    return 1 if wrong else 0


def of_wheel(folder: Path) -> Iterable[str]:
    """Yield what is wrong with the wheel."""
    (wheel,) = folder.glob("*.whl")
    if not wheel.name.startswith(f"weighbridge-{__version__}-py3-none-any"):
        yield f"{wheel.name} is not of version {__version__}"
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        text = opened.read(metadata).decode()
    wanted = {str(each.relative_to(ROOT)) for each in _files(ROOT / "gateway")}
    wanted |= {
        str(Path("gateway/demo/policies") / each.relative_to(ROOT / "policies"))
        for each in _files(ROOT / "policies")
    }
    yield from (f"{wheel.name} lacks {name}" for name in sorted(wanted - names))
    tops = {name.partition("/")[0] for name in names}
    yield from (
        f"{wheel.name} has `{top}` at its top"
        for top in sorted(tops)
        if top != "gateway" and not top.endswith(".dist-info")
    )
    yield from (f"{wheel.name} has {name}" for name in sorted(names) if STRANGE.search(name))
    if f"Version: {__version__}\n" not in text or "Project-URL: Changelog" not in text:
        yield f"{wheel.name}: its metadata lack version or addresses"
    if not any(name.endswith("entry_points.txt") for name in names):
        yield f"{wheel.name} has no command"


def of_sdist(folder: Path) -> Iterable[str]:
    """Yield what is wrong with the sdist."""
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    needed = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "Dockerfile")
    folders = ("gateway", "policies", "docs", "deploy", "examples", "scripts", "tests")
    yield from (f"{sdist.name} lacks {name}" for name in needed if name not in names)
    yield from (
        f"{sdist.name} lacks {top}/"
        for top in folders
        if not any(name.startswith(f"{top}/") for name in names)
    )
    yield from (f"{sdist.name} has {name}" for name in sorted(names) if STRANGE.search(name))


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in DATA and "__pycache__" not in path.parts
    ]


if __name__ == "__main__":
    sys.exit(main())
