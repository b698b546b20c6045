"""How rules came to be as they are, and every change of the policy."""

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

from gateway.actions import answers_policy
from gateway.events import admin
from gateway.store.revisions import StoredRevision
from gateway.store.selection import Selection
from gateway.store.store import Store
from gateway.types.events import EventKind, Stage
from gateway.types.json import JsonObject
from tests.helpers.cases import NOW
from tests.helpers.events import an_event

HEAD = "apiVersion: weighbridge/v1\nrules:\n"


def rule(id: str, when: str = "args.a == 2") -> str:
    match = "match: {tools: [crm.find]}"
    return f"  - id: {id}\n    decision: allow\n    {match}\n    when: {when}\n"


def file(*rules: str, head: str = HEAD) -> str:
    return head + "".join(rules)


class Past:
    """Revisions as a store keeps them, put in force an hour after each other."""

    def __init__(self) -> None:
        self.kept: dict[str, StoredRevision] = {}
        self._count = 0

    async def get(self, id: str) -> StoredRevision | None:
        return self.kept.get(id)

    async def put(self, store: Store, id: str, texts: Mapping[str, str], **more: Any) -> None:
        self._count += 1
        at = NOW + timedelta(hours=self._count)
        self.kept[id] = StoredRevision(id=id, at=at, activated_by="x", texts={**texts})
        by: dict[str, Any] = {"by": "a file changed", "tests": self._count, **more}
        event = admin.policy_activated(id=f"e{self._count}", at=at, revision=id, **by)
        store.events.append([event])
        await store.events.kept()


async def rows(found: AsyncIterator[JsonObject]) -> list[Any]:
    return [row async for row in found]


async def test_a_rule_is_followed_from_its_first_day_to_its_last(store: Store) -> None:
    past = Past()
    one, other = rule("one"), rule("other")
    await past.put(store, "r1", {"a.yaml": file(other)})
    await past.put(store, "r2", {"a.yaml": file(other, one)})
    await past.put(store, "r3", {"a.yaml": file(rule("other", "1 == 1"), one)})
    await past.put(store, "r4", {"a.yaml": file(other, rule("one", "args.a == 1"))})
    await past.put(store, "r4", {"a.yaml": file(other, rule("one", "args.a == 1"))})
    await past.put(store, "r5", {"a.yaml": file(other)})
    found = await rows(answers_policy.rule_changes(store.events, "one", past.get))
    assert [(row["change"], row["revision"], row["place"]) for row in found] == [
        ("added", "r2", "a.yaml:7"),
        ("changed", "r4", "a.yaml:7"),
        ("removed", "r5", "a.yaml:7"),
    ]
    assert (found[1]["by"], found[1]["tests"]) == ("a file changed", 4)
    changed = found[1]["diff"].splitlines()
    assert [line for line in changed if line[:1] in "+-"][2:] == [
        "-    when: args.a == 2",
        "+    when: args.a == 1",
    ]
    assert all(set(row) == set(answers_policy.RULE_CHANGES) for row in found)


async def test_layout_comments_and_the_file_are_no_change_and_sets_and_modes_are(
    store: Store,
) -> None:
    past = Past()
    uses = rule("one", "args.a in sets.some")
    sets = "apiVersion: weighbridge/v1\nsets:\n  some: [a]\nrules:\n"
    await past.put(store, "r1", {"a.yaml": file(uses, head=sets)})
    moved = uses.replace("{tools: [crm.find]}", "{ tools: [ crm.find ] }") + "  # the end\n"
    await past.put(store, "r2", {"b.yaml": file(rule("first"), moved, head=sets)})
    more = sets.replace("[a]", "[a, b]")
    await past.put(store, "r3", {"b.yaml": file(uses, head=more)})
    shadow = more.replace("rules:", "mode: shadow\nrules:")
    await past.put(store, "r4", {"b.yaml": file(uses, head=shadow)})
    found = await rows(answers_policy.rule_changes(store.events, "one", past.get))
    assert [(row["change"], row["revision"]) for row in found] == [
        ("there at first", "r1"),
        ("changed", "r3"),
        ("changed", "r4"),
    ]
    assert '+set some: ["a","b"]' in found[1]["diff"]
    assert "+mode of the file: shadow" in found[2]["diff"]


async def test_what_is_not_kept_or_not_readable_is_told(store: Store) -> None:
    past = Past()
    await past.put(store, "r1", {"a.yaml": file(rule("one"))})
    await past.put(store, "r2", {"a.yaml": "apiVersion: weighbridge/v99\n"})
    await past.put(store, "r3", {"a.yaml": file(rule("one"))})
    del past.kept["r3"]
    found = await rows(answers_policy.rule_changes(store.events, "one", past.get))
    assert [row["change"] for row in found] == ["there at first", "not readable", "not kept"]


async def test_changes_of_the_policy_come_with_tests_files_and_what_they_widen(
    store: Store,
) -> None:
    past = Past()
    await past.put(store, "r1", {"a.yaml": "one\n", "b.yaml": "same\n"})
    change: JsonObject = {"requests": 9, "wider": 2, "narrower": 0, "other": 1}
    await past.put(
        store,
        "r2",
        {"a.yaml": "two\n", "b.yaml": "same\n"},
        previous="r1",
        warnings=1,
        change=change,
    )
    store.events.append(
        [admin.policy_refused(id="e9", at=NOW + timedelta(days=1), by="SIGHUP", errors=["a:1: no"])]
    )
    await store.events.kept()

    async def of(**how: Any) -> list[Any]:
        return await rows(answers_policy.policy_changes(store.events, Selection(), past.get, **how))

    first, second, refused = await of(with_diff=True)
    assert (first["what"], first["from"], first["files"], first["diff"]) == ("in force", "", [], "")
    assert (second["files"], second["tests"], second["warnings"]) == (["a.yaml"], 2, 1)
    assert (second["wider"], second["narrower"], second["other"]) == (2, 0, 1)
    assert second["diff"].splitlines()[-2:] == ["-one", "+two"]
    assert (refused["what"], refused["by"], refused["errors"]) == ("refused", "SIGHUP", ["a:1: no"])
    assert not any(row["diff"] for row in await of())
    assert all(set(row) == set(answers_policy.POLICY_CHANGES) for row in await of())


async def test_that_people_agreed_is_told_with_who_and_why(store: Store) -> None:
    told = {"policy_proposed": "proposed", "policy_approved": "agreed with"}
    for action in (*told, "policy_rejected"):
        body: JsonObject = {"action": action, "revision": "r2", "by": "lea", "reason": "fine"}
        kind, stage = EventKind.ADMIN, Stage.RECORDED
        store.events.append([an_event(kind=kind, stage=stage, body=body, actor=None)])
    await store.events.kept()
    found = await rows(answers_policy.policy_changes(store.events, Selection(), Past().get))
    assert [row["what"] for row in found] == [*told.values(), "turned down"]
    assert {(row["by"], row["reason"], row["revision"]) for row in found} == {("lea", "fine", "r2")}


async def test_what_was_in_force_before_a_moment_is_the_newest_of_then(store: Store) -> None:
    past = Past()
    for id in ("r1", "r2", "r3"):
        await past.put(store, id, {})
    found = await answers_policy.before(store.events, NOW + timedelta(hours=3))
    assert found is not None
    assert found.revision == "r2"
    assert await answers_policy.before(store.events, NOW) is None
