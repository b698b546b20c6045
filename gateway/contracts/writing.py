"""Contracts as a file for a person to review: only what was said, with the reasons of guesses."""

import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from gateway.contracts import approval, guarantees, origins
from gateway.contracts.sections import duration_text, said
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Contract
from gateway.yamltext import resolve
from gateway.yamltext.editors import schema_line

_HEAD = (
    schema_line("contracts")
    + """\
# Tool contracts: what each tool does and how it is guarded. Look at every line of an entry that
# says `reviewed: false`, correct it, and set it to true; until then nobody has vouched for it.
"""
)
_WIDTH = 100
_STRING = "tag:yaml.org,2002:str"


def dump(
    contracts: Iterable[Contract], *, reasons: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return a file that `load` reads back as the same contracts.

    `reasons` holds, for the keys of drafted tools, why each guess was made; they become comments.
    """
    parts = [_HEAD, "tools:"]
    for contract in contracts:
        lines = (reasons or {}).get(contract.tool, ())
        comments = "".join(f"# {_visible(line)}\n" for line in lines)
        entry = comments + _yaml({contract.tool: _entry(contract)})
        parts.append(textwrap.indent(entry, "  "))
    if len(parts) == 2:
        parts[1] = "tools: {}\n"
    return "\n".join(parts)


def _visible(line: str) -> str:
    """Keep a comment on its line: the names in it are a stranger's."""
    return "".join(mark if mark.isprintable() else " " for mark in line)


def _entry(contract: Contract) -> JsonObject:
    """Return an entry with the keys in the order of the documentation, defaults left out."""
    entry: JsonObject = {
        "pin": contract.pin,
        "effect": contract.effect.value,
        "risk": contract.risk.value,
        "reviewed": contract.reviewed,
        "scopes": list[Json](sorted(contract.scopes)),
        "sensitive": {place: kind.value for place, kind in contract.sensitive.items()},
        "results": said(
            sensitive={place: kind.value for place, kind in contract.sensitive_results.items()},
            trusted_text=contract.trusted_text,
            lenient=contract.lenient_output,
            max_bytes=contract.max_result_bytes,
            trust=origins.trust_section(contract.result_trust),
        ),
        "risk_when": [
            said(
                when=rule.when,
                risk=rule.risk.value if rule.risk else None,
                effect=rule.effect.value if rule.effect else None,
                reason=rule.reason,
            )
            for rule in contract.raises
        ],
        "failure": said(
            timeout=None if contract.timeout_s is None else duration_text(contract.timeout_s),
            retryable=guarantees.retryable_section(contract),
        ),
        "idempotency": guarantees.idempotency_section(contract),
        "outcome": guarantees.outcome_section(contract),
        "compensation": guarantees.compensation_section(contract),
        "approval": approval.section(contract.approval),
        "provenance": {rule.pointer: origins.rule_section(rule) for rule in contract.provenance},
        "yields": [origins.yield_section(one, contract) for one in contract.yields],
        "retrieval": origins.retrieval_section(contract.retrieval),
        "when_tainted": contract.when_tainted.value if contract.when_tainted else None,
        "audit": said(
            level=contract.audit.level.value if contract.audit.level else None,
            seal=contract.audit.seal,
        ),
    }
    kept = {key: value for key, value in entry.items() if value not in (None, [], {})}
    return {**kept, "definition": contract.definition}


def section(value: JsonObject) -> str:
    """Return a map in lines, as entries are written."""
    return _yaml(value)


# --- YAML that our own strict loader reads back as the same values -----------------------------


def _yaml(value: JsonObject) -> str:
    return yaml.dump(  # pyright: ignore[reportUnknownMemberType] - untyped in the stubs
        value, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True
    )


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer, without aliases and with nothing invisible in what a person reviews."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def process_scalar(self) -> None:
        self.allow_unicode = not _is_hiding(str(getattr(self.event, "value", "")))
        super().process_scalar()


def _is_hiding(text: str) -> bool:
    """Whether a text holds characters that no one sees, which are written as escapes."""
    return any(
        unicodedata.category(mark) in ("Cf", "Cc", "Co", "Cn") for mark in text if mark != "\n"
    )


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _is_hiding(text) or _reads_otherwise(text):
        style = '"'
    elif "\n" in text:
        # Of line ends alone PyYAML writes a block that nobody can read, itself included.
        style = '"' if text.isspace() else "|"
    return dumper.represent_scalar(_STRING, text, style=style)  # pyright: ignore[reportUnknownMemberType] - untyped in the stubs


def _reads_otherwise(text: str) -> bool:
    """Whether our loader would take the plain text for something else: YAML 1.1 differs here."""
    try:
        return resolve(text) != text
    except ValueError:
        return True


_Dumper.add_representer(str, _text)
