"""What a run is for, and what it has collected: sealed in its row, since both may be personal."""

import logging
from collections.abc import Callable

from gateway import jsontext
from gateway.store.engine import Row, Value
from gateway.store.rows import clean
from gateway.store.run_rows import row_of, run_of, with_contents
from gateway.store.vault import SEALED, Vault, VaultBroken
from gateway.types.json import JsonObject
from gateway.types.runs import Collected, Run, Trust
from gateway.types.values import replaced

_log = logging.getLogger("weighbridge")


class Contents:
    """Seals and opens them under the key of a tenant, bound to their run."""

    def __init__(self, key: Callable[[str], bytes]) -> None:
        self._vault = Vault(key)

    def row(self, run: Run) -> dict[str, Value]:
        """Return all columns of a run."""
        objective = self._seal(run, "objective", clean(run.objective))
        return {**row_of(run), "objective": objective, "fields": self.fields(run)}

    def fields(self, run: Run) -> str:
        """Return the column of what a run has collected."""
        return self._seal(run, "fields", _text(run))

    def run(self, row: Row) -> Run:
        """Return the run that a row holds, without what is counted elsewhere.

        Raises `VaultBroken` where its contents don't open: nothing is judged by half a run.
        """
        run, objective, fields = with_contents(row)
        if not objective and not fields:
            return run
        return replaced(
            run,
            objective=self._open(run, "objective", objective),
            fields=_collected(self._open(run, "fields", fields)),
        )

    def listed(self, row: Row) -> Run:
        """Return the same for a list, in which one that does not open has no contents."""
        try:
            return self.run(row)
        except VaultBroken as error:
            run = run_of(row)
            _log.warning(
                "%s: what it is for and has collected does not open: %s", run.run_id, error
            )
            return run

    def _seal(self, run: Run, what: str, text: str) -> str:
        if not text:
            return ""
        return self._vault.seal(run.tenant, f"{run.run_id}/{what}", text.encode())

    def _open(self, run: Run, what: str, text: str) -> str:
        if not text.startswith(SEALED):  # of before contents were sealed
            return text
        return self._vault.open(run.tenant, f"{run.run_id}/{what}", text).decode()


def _text(run: Run) -> str:
    if not run.fields:
        return ""
    fields: JsonObject = {
        name: {
            "value": each.value,
            "trust": str(each.trust),
            "source": each.source,
            "at": each.at,
            "call": each.call_id,
        }
        for name, each in sorted(run.fields.items())
    }
    return clean(jsontext.dump(fields).decode())


def _collected(text: str) -> dict[str, Collected]:
    if not text:  # most runs, and every call of theirs reads the row
        return {}
    fields = jsontext.parse_result(text.encode())
    found: dict[str, Collected] = {}
    for name, each in fields.items() if isinstance(fields, dict) else ():
        match each:
            case {
                "value": value,
                "trust": str(trust),
                "source": str(source),
                "at": int(at),
                "call": str(call_id),
            }:
                found[name] = Collected(
                    value=value, trust=Trust(trust), source=source, at=at, call_id=call_id
                )
            case _:
                raise TypeError("a row has a field that is none")
    return found
