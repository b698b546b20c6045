"""The files of a policy folder, wherever its folders really are."""

import os
from pathlib import Path


def yaml_below(folder: Path) -> list[Path]:
    """Return every `.yaml` below a folder, in order.

    Links to folders are followed, each folder once, and names that begin with a dot are left out: a
    volume of Kubernetes keeps its files in a hidden folder and shows links to them.
    """
    seen: set[str] = set()
    found: list[Path] = []
    for root, folders, names in os.walk(folder, followlinks=True):
        seen.add(os.path.realpath(root))
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and os.path.realpath(Path(root, name)) not in seen
        )
        found += [
            Path(root, name)
            for name in (*folders, *names)  # a folder of such a name is told by who reads it
            if name.endswith(".yaml") and not name.startswith(".")
        ]
    return sorted(found)
