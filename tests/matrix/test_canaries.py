"""Nothing of one caller ever reaches another: the small version of `tests.matrix.canaries`."""

from pathlib import Path

from tests.matrix.canaries import run


async def test_nothing_that_is_said_for_one_caller_reaches_another(tmp_path: Path) -> None:
    """case: RPC-02, RPC-07"""
    report = await run(40, tmp_path)
    assert report.foreign == []
    assert report.wrong == []
    assert min(report.own.values()) > 0
    assert {*report.own} == {"answers", "progress", "logs", "questions", "replies", "updates"}
