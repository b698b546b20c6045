from dataclasses import replace

import pytest

from gateway.store.engine import Row
from gateway.store.rows import clean, operation_of, row_of
from gateway.types.operations import OpState, RetryClass, VerificationState
from tests.helpers.operations import wanted


def test_an_operation_comes_back_from_its_row() -> None:
    operation = replace(
        wanted(user="ana", run_id="run_1", evidence="lookup", compensates="op_0"),
        state=OpState.INDETERMINATE,
        retry=RetryClass.QUERY,
        verification=VerificationState.PENDING,
        settled_at=5,
    )
    assert operation_of(Row(row_of(operation))) == operation


@pytest.mark.parametrize(("text", "kept"), [("a\0b", "a\ufffdb"), ("\ud800", "?"), ("ä", "ä")])
def test_a_text_loses_what_an_engine_refuses(text: str, kept: str) -> None:
    assert clean(text) == kept
