import pytest

from gateway import jsontext
from gateway.events.faults import FaultKind
from gateway.store import pages
from gateway.store.store import Store
from gateway.types.json import Json
from tests.helpers.databases import Connect
from tests.helpers.tampering import checkpoint, tamper, write


async def test_a_page_holds_events_with_their_tiles_and_checkpoints(
    store: Store, connect: Connect
) -> None:
    await write(store, 300)
    await checkpoint(store)
    await write(store, 10)
    with connect().reading() as reading:
        bounds = pages.bounds(reading)
        found = pages.page(reading, after=256, last=310)
        first = pages.page(reading, after=0, last=256)
    assert (bounds.last_seq, bounds.sealed, bounds.beyond) == (310, None, ())
    assert (bounds.covered, bounds.odd, bounds.archives, bounds.strays) == (300, (), (), ())
    assert [seq for seq, _ in found.rows] == list(range(257, 311))
    assert (list(found.kept), list(found.marks)) == ([], [300])
    assert (list(first.kept), list(first.marks)) == ([0], [])
    assert found.marks[300][0].place == "the store"


async def test_events_of_an_archive_are_read_without_columns() -> None:
    found = pages.archived([(7, b"{}"), (8, b"[]")])
    assert {seq: wrong.kind for seq, wrong in found.items()} == {8: FaultKind.MALFORMED}


def wrongs(connect: Connect, last: int) -> dict[int, str]:
    with connect().reading() as reading:
        found = pages.page(reading, after=0, last=last).wrongs
    return {seq: f"{wrong.kind} {wrong.what}" for seq, wrong in found.items()}


async def test_only_what_is_doubted_is_looked_at_where_sqlite_looks_by_itself(
    store: Store, connect: Connect, store_url: str
) -> None:
    if not store_url.startswith("sqlite"):
        return
    await write(store, 4)
    tamper(
        store_url,
        "UPDATE events SET tool = 'crm.other' WHERE seq = 2",
        "UPDATE events SET body = 'no JSON' WHERE seq = 3",
    )
    with connect().reading() as reading:
        rows, doubted = reading.fetch_doubted("page_after", {"after": 0, "last": 4})
    assert (len(rows), doubted) == (4, [2, 3])
    assert [(seq, what[-6:]) for seq, what in wrongs(connect, 4).items()] == [
        (2, "`tool`"),
        (3, "object"),
    ]


async def test_every_column_is_looked_at(store: Store, connect: Connect, store_url: str) -> None:
    columns = ("id", "kind", "stage", "tenant", "run_id", "call_id", "trace_id", "actor_user")
    texts = (*columns, "tool", "decision", "rule", "status")
    await write(store, len(texts) + 1)
    changes = [f"UPDATE events SET {each} = 'x' WHERE seq = {n}" for n, each in enumerate(texts, 1)]
    tamper(store_url, *changes, f"UPDATE events SET at = at + 1 WHERE seq = {len(texts) + 1}")
    found = wrongs(connect, len(texts) + 1)
    for column, (seq, what) in zip((*texts, "at"), found.items(), strict=True):
        assert what.endswith(f": `{column}`"), seq


async def test_a_value_of_another_type_is_wrong_and_no_crash(
    store: Store, connect: Connect, store_url: str
) -> None:
    if not store_url.startswith("sqlite"):  # elsewhere columns have types
        return
    await write(store, 2)
    tamper(
        store_url,
        "UPDATE events SET body = x'00' WHERE seq = 1",
        "UPDATE events SET tenant = x'00' WHERE seq = 2",
    )
    assert [what.split()[0] for what in wrongs(connect, 2).values()] == ["malformed", "columns"]


@pytest.mark.parametrize("tool", ["x://" + "a" * 300, 5, 5.0, True, {"a": 1}, [1]])
async def test_what_a_column_never_has_is_doubted_and_wrong(
    store: Store, connect: Connect, store_url: str, tool: Json
) -> None:
    """A text that is not cut, and what is no text: queries by it find nothing."""
    await write(store, 1, body={"tool": tool})
    assert wrongs(connect, 1) == {}
    text = tool if isinstance(tool, str) else jsontext.dump(tool).decode()
    for each in (text, "1" if tool is True else text):
        tamper(store_url, f"UPDATE events SET tool = '{each}'")
        assert wrongs(connect, 1)[1].endswith(": `tool`")


NULLS: list[tuple[Json, str, bool]] = [
    (None, "", True),
    (None, "null", False),
    ("null", "null", True),
    ("null", "", False),
    ("\null", "\null", True),
    ("\null", '"', False),
    ("a null b", 'a "" b', False),
    ('","', '","', True),
    ("x" * 256, "x" * 256, True),
    ("x" * 257, "x" * 256, True),
    ("x" * 257, "x" * 257, False),
    ("x" * 256, "x" * 255, False),
]


@pytest.mark.parametrize(("told", "kept", "is_same"), NULLS)
async def test_nothing_and_texts_with_signs_of_json_are_told_from_each_other(
    store: Store, connect: Connect, store_url: str, told: Json, kept: str, is_same: bool
) -> None:
    await write(store, 1, body={"tool": "crm.find", "rule": told})
    tamper(store_url, f"UPDATE events SET rule = '{kept}'")
    assert bool(wrongs(connect, 1)) is not is_same


async def test_what_has_a_line_break_is_read_as_it_is(
    store: Store, connect: Connect, store_url: str
) -> None:
    await write(store, 3)
    tamper(store_url, "UPDATE events SET body = replace(body, ',', ',\n') WHERE seq = 2")
    with connect().reading() as reading:
        found = pages.page(reading, after=0, last=3)
    assert [(seq, b",\n" in body) for seq, body in found.rows] == [
        (1, False),
        (2, True),
        (3, False),
    ]
    assert found.wrongs == {}


async def test_roots_of_before_and_tiles_above_are_held_against_tiles(
    store: Store, connect: Connect
) -> None:
    await write(store, 300)
    made = await checkpoint(store)
    with connect().reading() as reading:
        roots = pages.roots(reading, sizes=[0, 300])
        assert roots[300] == made.root
        assert (
            pages.tile_faults(reading, level=1, number=0, known={}) == []
        )  # those below are not all there
        (fault,) = pages.odd_tiles(reading, level=0, covered=512)
    assert (fault.kind, fault.first, fault.last) == (FaultKind.TILE, 257, 512)


async def test_a_tile_that_is_not_of_those_below_is_told(
    store: Store, connect: Connect, store_url: str
) -> None:
    await write(store, 256)
    await checkpoint(store)
    copy = "INSERT INTO tiles SELECT 0, {}, hashes FROM tiles WHERE level = 0 AND number = 0"
    tamper(store_url, *(copy.format(number) for number in range(1, 256)))
    tamper(store_url, "INSERT INTO tiles SELECT 1, 0, hashes FROM tiles WHERE number = 0")
    with connect().reading() as reading:
        (fault,) = pages.tile_faults(reading, level=1, number=0, known={})
    assert (fault.kind, fault.first, fault.last) == (FaultKind.TILE, 1, 65_536)
