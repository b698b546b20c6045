"""What is said of each input that is wrong: for the test of all errors, and for their page."""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import yaml

from gateway.actions import revisions
from gateway.config import env_file, load
from gateway.contracts import files as contracts
from gateway.contracts.pins import pin
from gateway.errors import FileError, FilesError, WeighbridgeError
from gateway.policy import cases, run_files
from gateway.policy import files as policy
from gateway.policy.compile import compile_policy
from gateway.revision import Unreviewed
from scripts import error_inputs as inputs

Said = tuple[str, tuple[str, ...]]  # what stands in the file, and the messages about it

_HEAD: Final = """\
# Errors in files

What is said of a file that can't be used: one sentence each, the place before it, the mend in it.
All faults of a file are told at once. Commands print them on standard error, the pages show them,
and the event log keeps them in the same words, each as

```text
weighbridge: policies/desk.yaml:31:11: no name `arg` here; did you mean `args`?
```

`file:line:column`; a file as a whole has no line. Nothing starts, or takes force, with such a file;
a running gateway stays with what it has. What `policy lint` finds in files that can be used stands
in [Policy](policy.md).

Made from `scripts/error_inputs.py`, whose inputs are tried by a test: one for each place in the
code that makes an error. The second column is an input that leads to it, with `⏎` for a new line.
"""


def of_config(text: str | bytes | None) -> Iterator[str]:
    """Say what is wrong with a configuration; None is one that isn't there."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.yaml"
        if text == inputs.FOLDER:
            path.mkdir()
        elif text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        yield from _said(lambda: load.load(path, {"SET": "nowhere"}), folder)


def of_contract(part: str) -> Iterator[str]:
    """Say what is wrong with a contract that differs by one part from one that is right."""
    yield from _said(lambda: _compiled({"contracts/desk.yaml": contract(part)}))


def contract(part: str = "") -> str:
    """Return a file of one contract; its pin is that of its definition unless a part says else."""
    written = yaml.safe_load(part) or {}
    usual = {
        "effect": "write",
        "risk": "low",
        "definition": "{name: refund, inputSchema: {type: object}}",
    }
    definition = written.get("definition") or yaml.safe_load(usual["definition"])
    usual["pin"] = pin(definition)
    lines = [part, *(f"{key}: {value}" for key, value in usual.items() if key not in written)]
    return "tools:\n  desk.refund:\n" + "".join(f"    {line}\n" for line in lines if line)


def of_contract_file(text: str) -> Iterator[str]:
    """Say what is wrong with a file of contracts."""
    whole = text.replace("PIN", pin({"name": "refund"}))
    yield from _said(lambda: contracts.load(whole, file="contracts/desk.yaml"))


def of_policy(text: str) -> Iterator[str]:
    """Say what is wrong with a file of rules, expressions included."""
    yield from _said(lambda: compile_policy([policy.load(text, file="desk.yaml")]))


def of_tests(text: str) -> Iterator[str]:
    """Say what is wrong with a file of policy tests."""
    yield from _said(lambda: cases.load(text, file="tests/desk.yaml"))


def of_runs(text: str) -> Iterator[str]:
    """Say what is wrong with a file of templates."""
    yield from _said(lambda: run_files.load(text, file="runs/desk.yaml"))


def of_env(text: str) -> Iterator[str]:
    """Say what is wrong with a file of variables."""
    yield from _said(lambda: env_file.parse(text, file="secrets.env"))


def of_folder(files: Mapping[str, str | bytes | None] | None) -> Iterator[str]:
    """Say what is wrong with a policy folder; a file that is None is a folder by its name."""
    if files is None:
        yield from _said(lambda: revisions.read(Path("no/policies")))
        return
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            empty = Path(folder) / "contracts"
            whole = revisions.folder_of({})
            yield from _said(lambda: revisions.with_contracts(whole, empty), folder)
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.mkdir()
            elif isinstance(text, bytes):
                path.write_bytes(text)
            else:
                path.write_text(contract() if text == "CONTRACT" else text)
        yield from _said(lambda: _built(Path(folder)), folder)


def _built(folder: Path) -> None:
    _compiled(revisions.read(folder).texts)


def _compiled(texts: Mapping[str, str]) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    folder = revisions.folder_of(texts)
    built = revisions.build(folder, unreviewed=Unreviewed.REFUSE, at=at)
    if built.errors:
        raise FilesError(built.errors)


def _said(read: Callable[[], object], folder: str = "") -> Iterator[str]:
    try:
        read()
    except FileError as error:
        yield from (_without(str(each), folder) for each in revisions.each(error))
    except WeighbridgeError as error:
        yield _without(str(error), folder)


def _without(text: str, folder: str) -> str:
    return text.replace(f"{folder}/", "") if folder else text


def everything() -> dict[str, list[Said]]:
    """Return all inputs with what is said of them, by what they are."""
    return {
        "Any file": [*_tried(inputs.YAML, of_config), *_tried(inputs.BYTES, of_config)],
        "Configuration": [*_tried(inputs.CONFIG, of_config)],
        "Variables (`env_file`)": [*_tried(inputs.ENV, of_env)],
        "Contracts": [
            *_tried(inputs.CONTRACTS, of_contract),
            *_tried(inputs.CONTRACT_FILES, of_contract_file),
        ],
        "Rules": [*_tried(inputs.POLICY, of_policy)],
        "Policy tests": [*_tried(inputs.TESTS, of_tests)],
        "Templates of runs": [*_tried(inputs.RUNS, of_runs)],
        "The policy folder": [*_tried(inputs.FOLDERS, of_folder)],
    }


def _tried(found: Sequence[object], say: Callable[..., Iterator[str]]) -> Iterator[Said]:
    for each in found:
        yield _shown(each), tuple(say(each))


def _shown(given: object) -> str:
    """Return an input as the page has it."""
    match given:
        case None:
            return "nothing there"
        case dict() if not given:
            return "an empty folder as `--contracts`"
        case bytes():
            return f"{len(given):,} bytes" if len(given) > 40 else repr(given)[2:-1]
        case dict():
            return ", ".join(f"{name}: {_shown(text)}" for name, text in given.items())  # pyright: ignore[reportUnknownVariableType] - names and texts
        case _:
            text = str(given) or "an empty file"
            return text if len(text) < 400 else f"{text[:20]}… ({len(text):,} characters)"


PLACE: Final = re.compile(r"^[^\s:]+(:[0-9]+:[0-9]+)?: ")


def render() -> str:
    """Return the page."""
    parts = [_HEAD]
    for title, tried in everything().items():
        parts.append(f"## {title}\n\n| what is said | of |\n| --- | --- |")
        rows = {
            PLACE.sub("", message): text for text, messages in tried for message in messages[:1]
        }
        parts += [f"| {_cell(message)} | {_code(text)} |" for message, text in sorted(rows.items())]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(text: str) -> str:
    visible = "".join(each if each.isprintable() or each == "\n" else "�" for each in text)
    return f"`` {visible.replace('|', chr(92) + '|').replace(chr(10), ' ⏎ ')} ``"
