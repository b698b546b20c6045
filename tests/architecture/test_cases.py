"""Every public case is shown by a test, or the manifest says why it is left; no others exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.cases.manifest import CASES

TESTS = Path(__file__).resolve().parents[1]
LINE = re.compile(r"case: (.+)")
ID = re.compile(r"[A-Z]{3}-\d{2}")
SOURCE = re.compile(r"[\w.-]+/[\w.-]+#\d+")


def citations() -> Iterator[tuple[str, str]]:
    """Yield each cited id with the test that cites it."""
    for path in sorted(TESTS.rglob("test_*.py")):
        if "cache" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if not is_test or not node.name.startswith("test_"):
                continue
            for line in LINE.findall(ast.get_docstring(node) or ""):
                for cited in ID.findall(line):
                    yield cited, f"{path.relative_to(TESTS)}::{node.name}"


CITED = dict(citations())


def test_a_case_that_holds_is_shown_by_a_test() -> None:
    held = (name for name, case in CASES.items() if not case.left)
    assert not ", ".join(name for name in held if name not in CITED)


def test_a_test_cites_only_cases_of_the_manifest() -> None:
    unknown = (f"{test} cites {name}" for name, test in CITED.items() if name not in CASES)
    assert not ", ".join(unknown)


def test_a_case_has_a_sentence_and_a_public_source() -> None:
    for name, case in CASES.items():
        assert SOURCE.fullmatch(case.source), name
        assert case.sentence, name
        assert not case.sentence.endswith("."), name
