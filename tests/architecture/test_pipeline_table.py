"""The table in the docs, the modules in `steps/` and the pipeline are one list."""

import re
from pathlib import Path

import pytest

from gateway import judging
from gateway.case import Check
from gateway.types.calls import Method

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/explanation/way-of-a-call.md"


def documented() -> list[str]:
    return re.findall(r"^\| \d+ \| (\w+) \|", PAGE.read_text(), re.MULTILINE)


def test_every_step_of_the_table_is_a_module_and_every_module_is_in_the_table() -> None:
    modules = {path.stem for path in (ROOT / "gateway/steps").glob("*.py")} - {"__init__"}
    assert sorted(documented()) == sorted(modules)


def test_the_checks_stand_in_the_order_of_the_table() -> None:
    checks = [check.__module__.rpartition(".")[2] for check in judging.CHECKS]
    table = [step for step in documented() if step in checks]
    assert checks == table


@pytest.mark.parametrize("checks", [judging.LIST_CHECKS, judging.READ_CHECKS])
def test_lists_and_reads_are_judged_by_the_checks_of_calls_in_the_same_order(
    checks: tuple[Check, ...],
) -> None:
    modules = [check.__module__ for check in judging.CHECKS]
    used = [check.__module__ for check in checks]
    assert [module for module in modules if module in used] == used


def test_whatever_a_client_may_ask_for_has_its_checks() -> None:
    assert set(judging.CHECKS_FOR) == {method for method in Method if not method.is_ask}
