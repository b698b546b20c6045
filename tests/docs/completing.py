"""Files as pages show them: what is a part of one is completed, and read as a gateway does."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from gateway import jsontext, yamltext
from gateway.config.load import load as load_config
from gateway.config.settings import Settings
from gateway.contracts import files as contracts
from gateway.contracts import pins
from gateway.contracts.entry import Entry
from gateway.policy import cases, run_files
from gateway.policy import files as rules
from gateway.policy.compile import compile_policy
from gateway.types.json import Json, JsonObject
from tests.docs import commands

_VARIABLE: Final = re.compile(r"\$\{(\w+)(?!\w|:-)[^}]*\}")
_ENTRY: Final = frozenset(field.alias or name for name, field in Entry.model_fields.items())
_TOP: Final = frozenset(Settings.model_fields)


def kind_of(text: str, file: str) -> str:
    """Say what a block of YAML is a part of, by its keys; empty when they don't tell."""
    keys = set(_value(text, file))
    for key, kind in (("rules", "policy"), ("tests", "tests"), ("runs", "runs")):
        if key in keys and not (key == "runs" and _is_of_config(text, file)):
            return kind
    if "tools" in keys:
        return "contracts"
    if keys <= _ENTRY and not keys <= _TOP:
        return "contract"
    return "config" if all(key in _TOP or key.startswith("x-") for key in keys) else ""


def _is_of_config(text: str, file: str) -> bool:
    """Whether `runs` is the section of the configuration: templates have sections inside."""
    found = _value(text, file)["runs"]
    known = Settings.model_fields["runs"].annotation
    fields: Mapping[str, object] = getattr(known, "model_fields", {})
    return isinstance(found, dict) and set(found) <= set(fields)


def check(kind: str, text: str, file: str, folder: Path) -> None:
    """Read a block as the kind of file that it is a part of; raises what a gateway would."""
    READ[kind](text, file, folder)


def _config(text: str, file: str, folder: Path) -> None:
    """Read a configuration, with a value for every variable."""
    if not re.search(r"^servers:", text, re.MULTILINE):
        text = f"{text}\nservers: {{}}\n"
    (folder / "policies").mkdir(exist_ok=True)
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    load_config(path, {name: _stand_in(name) for name in _VARIABLE.findall(text)})


def _stand_in(name: str) -> str:
    if "SECRET" in name:
        return f"whsec_{'a' * 40}"
    if name.endswith(("_URL", "_WEBHOOK")):
        return "https://example.com/hook"
    return f"value-of-{name.lower()}"


def _policy(text: str, file: str, folder: Path) -> None:
    compile_policy([rules.load(text, file=file)])


def _contracts(text: str, file: str, folder: Path) -> None:
    """Read contracts, each completed with what the page leaves out."""
    tools = _value(text, file)["tools"]
    assert isinstance(tools, dict)
    whole: JsonObject = {}
    for name, entry in tools.items():
        assert isinstance(entry, dict), f"{file}: `{name}` is no contract"
        whole[name] = _completed(name, entry)
    contracts.load(jsontext.dump({"tools": whole}).decode(), file=file)


def _contract(text: str, file: str, folder: Path) -> None:
    """Read sections of one contract."""
    entry = _completed("desk.refund", _value(text, file))
    contracts.load(jsontext.dump({"tools": {"desk.refund": entry}}).decode(), file=file)


def _completed(name: str, entry: JsonObject) -> JsonObject:
    """Put what a page shows of a contract into one that is whole."""
    definition: JsonObject = {
        "name": name.partition(".")[2],
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    shown = {key: value for key, value in entry.items() if not _is_left_out(value)}
    own: JsonObject = {"pin": pins.pin(definition), "definition": definition}
    return {"effect": "read", "risk": "low", **shown, **own}


def _is_left_out(value: Json) -> bool:
    """Whether a page says of a value only that there is one."""
    return value in ({"…": None}, ["…"]) or (isinstance(value, str) and "…" in value)


def _tests(text: str, file: str, folder: Path) -> None:
    cases.load(text, file=file)


def _runs(text: str, file: str, folder: Path) -> None:
    run_files.load(text, file=file)


def _yaml(text: str, file: str, folder: Path) -> None:
    """Read what is another program's: that it is YAML, and the commands in it."""
    for typed in _scripts(_other(text, file)):
        for line in commands.of_script(typed):
            for words in commands.calls(line):
                assert not (told := commands.fault(words)), told


def _scripts(value: Json) -> list[str]:
    """Return the shell scripts of a workflow: values of `run` and `script`."""
    found: list[str] = []
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("run", "script", "before_script") and not isinstance(each, dict):
                lines = each if isinstance(each, list) else [each]
                found += [str(line) for line in lines]
            else:
                found += _scripts(each)
    elif isinstance(value, list):
        for each in value:
            found += _scripts(each)
    return found


def _value(text: str, file: str) -> JsonObject:
    value = yamltext.load(text, file=file).value
    assert isinstance(value, dict), f"{file}: no map"
    return value


def _other(text: str, file: str) -> Json:
    return yamltext.load(text, file=file).value


READ: Final[Mapping[str, Callable[[str, str, Path], None]]] = {
    "config": _config,
    "policy": _policy,
    "contracts": _contracts,
    "contract": _contract,
    "tests": _tests,
    "runs": _runs,
    "yaml": _yaml,
}
