"""What has to hold after any number of crashes, counted; one line for each."""

from collections import Counter
from dataclasses import dataclass, field

FINAL = {"finished", "failed"}


@dataclass
class Seen:
    """What agents asked for, and what they were told; by the number that they asked with."""

    tools: dict[int, str] = field(default_factory=dict)
    operations: dict[int, str] = field(default_factory=dict)
    texts: dict[int, set[str]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    replayed: int = 0
    said: dict[int, set[str]] = field(default_factory=dict)

    def told(self, number: int, outcome: dict, result: dict) -> None:
        """Keep what one call was told in the end."""
        self.statuses[outcome["status"]] += 1
        self.said.setdefault(number, set()).add(outcome["status"])
        if "op_id" in outcome:
            self.operations[number] = outcome["op_id"]
        if outcome["status"] == "ok":
            self.replayed += bool(outcome.get("replayed"))
            self.texts.setdefault(number, set()).add(result["content"][0]["text"])


def check(seen: Seen, rows: str, listed: list[dict], events: list[dict]) -> bool:
    """Print what was found, and return whether it is as it has to be.

    `rows` is what the tool server wrote down, `listed` what `weighbridge ops list` shows.
    """
    written = Counter((line.split()[0], int(line.split()[1])) for line in rows.splitlines())
    effect = {(f"rows.{tool}", number): count for (tool, number), count in written.items()}
    found = {(each["tool"], each["arguments"]["n"]): each for each in reversed(listed)}
    operations = Counter((each["tool"], each["arguments"]["n"]) for each in listed)
    states = Counter(each["state"] for each in listed)
    indeterminate = {key for key, each in found.items() if each["state"] == "indeterminate"}
    print(f"told: {dict(seen.statuses.most_common())}, {seen.replayed} of them replayed")
    print(f"operations: {dict(states.most_common())}; rows written: {written.total()}")
    happened = sum(key in effect for key in indeterminate)
    resent = sum(each["attempts"] > 1 for each in listed)
    print(
        f"cut off by a kill: {len(indeterminate) + resent}, of which {resent} could be sent again"
    )
    print(f"of {len(indeterminate)} indeterminate, {happened} had in fact happened")
    told_unknown = {
        (f"rows.{seen.tools[number]}", number)
        for number, said in seen.said.items()
        if "indeterminate" in said
    }
    never = [count for (tool, _), count in effect.items() if tool == "rows.put"]
    once = [number for number, tool in seen.tools.items() if tool != "put_same"]
    keyed = [count for (tool, _), count in effect.items() if tool == "rows.put_keyed"]
    finals = Counter(
        each["call"] for each in events if each["kind"] == "tool_call" and each["stage"] in FINAL
    )
    wrong = {
        "calls without an end": len(seen.tools.keys() - seen.said.keys()),
        "operations of class `never` sent twice": sum(count > 1 for count in never),
        "operations of class `keyed` carried out twice": sum(count > 1 for count in keyed),
        "`succeeded` without effect": _among(found, {"succeeded"}, effect, has_effect=False),
        "`ready` or `failed_retryable` with effect": _among(
            found, {"ready", "failed_retryable"}, effect, has_effect=True
        ),
        "effects without an operation": len(effect.keys() - found.keys()),
        "still `dispatching`": states["dispatching"],
        "told as unknown, and listed as anything else": len(told_unknown - indeterminate),
        "`ok` without effect": sum(
            (f"rows.{seen.tools[number]}", number) not in effect for number in seen.texts
        ),
        "calls that got two different answers": sum(
            len(seen.texts.get(number, ())) > 1 for number in once
        ),
        "calls with two operations": sum(
            count > 1 and tool != "rows.put_same" for (tool, _), count in operations.items()
        ),
        "calls with two final events": sum(count > 1 for count in finals.values()),
    }
    for what, count in wrong.items():
        print(f"  {count} {what}")
    return not any(wrong.values())


def _among(
    found: dict[tuple[str, int], dict], states: set[str], effect: dict, *, has_effect: bool
) -> int:
    return sum(
        each["state"] in states and (key in effect) is has_effect for key, each in found.items()
    )
