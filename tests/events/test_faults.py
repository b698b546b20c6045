from gateway.events.faults import Fault, FaultKind, follows, merged


def at(first: int, last: int, kind: FaultKind = FaultKind.MISSING) -> Fault:
    return Fault(kind=kind, first=first, last=last, what="gone")


def test_faults_of_one_kind_side_by_side_are_one_and_all_come_in_the_order_of_the_events() -> None:
    found = merged([at(7, 7), at(3, 4), at(3, 3, FaultKind.TILE), at(5, 5), at(1, 1)])
    assert found == [at(1, 1), at(3, 5), at(3, 3, FaultKind.TILE), at(7, 7)]


def test_signatures_are_told_one_by_one() -> None:
    assert not follows(at(1, 1, FaultKind.SIGNATURE), at(2, 2, FaultKind.SIGNATURE))
