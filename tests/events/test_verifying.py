"""The rules alone; tests/actions/test_verifying.py shows them on real databases."""

from collections.abc import Mapping, Sequence

from gateway.events import tree
from gateway.events.checkpoints import Checkpoint
from gateway.events.faults import Fault, FaultKind
from gateway.events.notes import Signer
from gateway.events.tiles import WIDTH
from gateway.events.tree import Edge
from gateway.events.trust import Trust
from gateway.events.verifying import Mark, Report, Verifier, Wrong

SIGNER = Signer(name="log.example/a", seed=b"1" * 32)
NEW = Signer(name="log.example/a", seed=b"2" * 32)
BODIES = [str(number).encode() for number in range(1, 601)]
LEAVES = [tree.leaf_hash(body) for body in BODIES]
TILES = {0: LEAVES[:WIDTH], 1: LEAVES[WIDTH : 2 * WIDTH]}


def a_mark(size: int, *, signers: Sequence[Signer] = (SIGNER,), is_outside: bool = False) -> Mark:
    root = tree.root_of(LEAVES[:size])
    note = Checkpoint(origin=SIGNER.name, size=size, root=root).signed(signers)
    return Mark(size=size, note=note, place="here", is_outside=is_outside)


def read(
    bodies: Mapping[int, bytes],
    stored: Sequence[Mark],
    outside: Sequence[Mark] = (),
    *,
    kept: Mapping[int, Sequence[bytes]] = TILES,
    keys: Mapping[int, str] | None = None,
) -> Report:
    verifier = Verifier(Trust([SIGNER.key]), outside, Edge())
    last = max(bodies)
    by_size = {mark.size: [mark] for mark in stored}
    verifier.begin([])
    wrongs = {seq: Wrong(key=key) for seq, key in (keys or {}).items()}
    verifier.page([*bodies.items()], kept, by_size, wrongs)
    return verifier.end([mark for mark in stored if mark.size > last], last)


ALL = dict(enumerate(BODIES, 1))


def without(*numbers: int) -> dict[int, bytes]:
    return {seq: body for seq, body in ALL.items() if seq not in numbers}


def test_a_gap_is_gone_over_by_kept_hashes_and_the_rest_is_proven() -> None:
    report = read(without(10, 11), [a_mark(600)])
    assert report.faults == (
        Fault(kind=FaultKind.MISSING, first=10, last=11, what="not in the log"),
    )
    assert report.stored is not None
    assert report.stored.size == 600


def test_where_no_hash_was_kept_the_tree_ends_at_a_gap_and_numbers_go_on() -> None:
    report = read(without(520, 530), [a_mark(515), a_mark(600)])
    assert [(each.first, each.last) for each in report.faults] == [(520, 520), (530, 530)]
    assert report.stored is not None
    assert report.stored.size == 515


def test_a_change_in_a_gap_of_checkpoints_is_told_even_where_none_covers_it() -> None:
    report = read({**ALL, 20: b"x"}, [])
    (fault,) = report.faults
    assert (fault.kind, fault.first) == (FaultKind.CHANGED, 20)
    assert "no checkpoint tells" in fault.what


def test_a_change_is_named_where_something_is_told_of_an_event_after_it() -> None:
    report = read({**ALL, 20: b"x"}, [a_mark(100)], keys={22: "k"})
    assert [(each.kind, each.first) for each in report.faults] == [(FaultKind.CHANGED, 20)]


def test_tiles_that_hold_what_events_give_have_their_roots_remembered() -> None:
    verifier = Verifier(Trust([]), [], Edge())
    verifier.page([*ALL.items()], {0: LEAVES[:WIDTH]}, {})
    assert verifier.roots == {0: tree.root_of(LEAVES[:WIDTH])}


def test_a_change_with_a_gap_beside_it_are_both_named() -> None:
    report = read({**without(30), 20: b"x"}, [a_mark(100)])
    assert [(each.kind, each.first) for each in report.faults] == [
        (FaultKind.CHANGED, 20),
        (FaultKind.MISSING, 30),
    ]


def test_a_key_that_took_over_signs_from_then_on() -> None:
    both, after = a_mark(100, signers=(SIGNER, NEW)), a_mark(200, signers=(NEW,))
    report = read(ALL, [a_mark(50), both, after], keys={90: str(NEW.key)})
    assert report.is_whole
    assert report.stored is not None
    assert report.stored.keys == (str(NEW.key),)
    report = read(ALL, [a_mark(50), both, after])
    assert [each.kind for each in report.faults] == [FaultKind.SIGNATURE]


def test_a_number_that_comes_twice_is_a_stray() -> None:
    verifier = Verifier(Trust([]), [], Edge())
    verifier.page([(1, b"a")], {}, {})
    verifier.page([(1, b"b")], {}, {})
    (fault,) = verifier.end([], 1).faults
    assert (fault.kind, fault.first) == (FaultKind.STRAY, 1)


def test_faults_beyond_a_bound_are_counted() -> None:
    verifier = Verifier(Trust([]), [], Edge())
    numbers = range(1, 1_201)
    wrongs = {seq: Wrong(kind=FaultKind.COLUMNS, what=str(seq)) for seq in numbers}
    verifier.page([(seq, b"") for seq in numbers], {}, {}, wrongs)
    report = verifier.end([], 1_200)
    assert (len(report.faults), report.unlisted) == (1_000, 200)


def test_a_copy_of_what_was_archived_is_held_against_kept_hashes() -> None:
    edge = Edge()
    for leaf in LEAVES[:WIDTH]:
        edge.append(leaf)
    marks = [a_mark(100, is_outside=True), a_mark(200, is_outside=True)]
    verifier = Verifier(Trust([SIGNER.key]), marks, edge)
    verifier.begin([a_mark(WIDTH)])
    verifier.before({100: tree.root_of(LEAVES[:100]), 200: b"x" * 32})
    (fault,) = verifier.end([], WIDTH).faults
    assert (fault.kind, fault.first, fault.last) == (FaultKind.REWRITTEN, 1, 200)
    assert verifier.size == WIDTH
