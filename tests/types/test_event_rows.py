from gateway.types.audit import SealedCopy
from gateway.types.event_rows import COLUMNS, EventRow

TEXTS = [name for name in EventRow._fields if name not in ("at", "sealed")]
ROW = EventRow._make((5, *TEXTS, None))


def test_a_row_gets_its_number_before_its_columns() -> None:
    assert dict(zip(COLUMNS, ROW.numbered(7), strict=True)) == {
        "seq": 7,
        "at": 5,
        **{name: name for name in TEXTS},
    }


def test_a_sealed_copy_is_beside_the_columns_and_counts_as_memory() -> None:
    sealed = SealedCopy(key="k", wrapped="w", content="c" * 1_000)
    row = ROW._replace(sealed=sealed)
    assert ROW.size == len("body")
    assert row.size == len("body") + 1_000
    assert row.numbered(1) == ROW.numbered(1)
    assert len(COLUMNS) == len(EventRow._fields)  # the number, for the copy
