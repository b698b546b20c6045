"""A module's tests are where its path says, and a test module is about the module that it names."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GATEWAY, TESTS = ROOT / "gateway", ROOT / "tests"

# Test modules about what several modules of a folder do together, or about files beside them.
TOGETHER = {
    "demo/test_policies.py": "the policy files that the demo shows",
    "listen/test_misbehaviour.py": "clients that break the protocol, at every front",
    "listen/test_questions.py": "questions of servers to clients, at every front",
    "policy/test_reference.py": "the examples of the reference page",
    "servers/test_fidelity.py": "what passes unchanged from a server to a caller",
}


def declares_only(path: Path) -> bool:
    """Whether a module holds nothing that could go wrong: fields, members and protocols."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return all(_is_declaration(function) for function in functions)


def _is_declaration(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a protocol's: a docstring and an ellipsis."""
    return all(
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        for statement in function.body
    )


def sources() -> list[Path]:
    found = sorted(path.relative_to(GATEWAY) for path in GATEWAY.rglob("*.py"))
    return [path for path in found if not path.name.startswith("__")]


def mirrored_tests() -> list[Path]:
    """Return the test modules in folders that the package has too, and those at the top."""
    folders = {path.parent for path in sources()}
    return sorted(
        path.relative_to(TESTS) for folder in folders for path in (TESTS / folder).glob("test_*.py")
    )


def subject(test: Path) -> Path | None:
    """Return the module that a test module names: `test_sse.py`, or `test_sse_ends.py` for a part.

    The longest name wins, so that `test_lint_rules.py` is about `lint_rules.py`.
    """
    words = test.stem.removeprefix("test_").split("_")
    for number in range(len(words), 0, -1):
        module = test.with_name("_".join(words[:number]) + ".py")
        if (GATEWAY / module).exists():
            return module
    return None


TESTED = {subject(test) for test in mirrored_tests()}


def test_a_module_that_does_something_has_its_tests_at_the_mirrored_place() -> None:
    untested = [path for path in sources() if path not in TESTED]
    assert not ", ".join(str(path) for path in untested if not declares_only(GATEWAY / path))


def test_a_test_module_is_about_a_module_or_says_what_else() -> None:
    tests = mirrored_tests()
    stray = [str(path) for path in tests if (subject(path) is None) != (str(path) in TOGETHER)]
    assert not ", ".join(stray)


def test_nothing_is_listed_that_is_gone() -> None:
    assert not ", ".join(path for path in TOGETHER if not (TESTS / path).exists())
