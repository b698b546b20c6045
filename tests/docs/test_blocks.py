"""Every block of every page is read by what a reader would give it to, or says why it can't be."""

import ast
import importlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gateway import jsontext
from gateway.errors import WeighbridgeError
from tests.docs import commands, completing, pages
from tests.docs.pages import Block

SHOWN = frozenset({"text"})  # what somebody sees, or a drawing: nothing to read it with
FAULTS = (WeighbridgeError, AssertionError, ValueError, SyntaxError, ImportError, AttributeError)


def checked(block: Block, folder: Path) -> str:
    """Read one block; returns what is wrong with it."""
    if block.note == "unchecked":
        return "" if block.about else "`unchecked` without a reason"
    if block.language in SHOWN:
        return ""
    if not block.language:
        return "a block without a language; name it, `text` if it is none"
    reader = READ.get(block.language)
    if reader is None:
        return f"nothing reads `{block.language}`; write `<!-- unchecked: reason -->` above it"
    try:
        return next(reader(block, folder), "")
    except FAULTS as fault:
        return str(fault)


def of_yaml(block: Block, folder: Path) -> Iterator[str]:
    if all(line.startswith("#") for line in block.text.split("\n") if line.strip()):
        return  # a comment, such as the first line of a file
    kind = block.about if block.note == "check" else ""
    kind = kind or completing.kind_of(block.text, block.place)
    if kind not in completing.READ:
        yield f"no kind of file `{kind}`; write `<!-- check: KIND -->` above it"
        return
    rest = f"\n{block.about}\n" if block.note == "with" else ""
    completing.check(kind, block.text + rest, block.place, folder)


def of_console(block: Block, folder: Path) -> Iterator[str]:
    typed = [*commands.of_console(block.text)]
    if not typed:
        yield "no line begins with `$ `; is it `sh`, or `text`?"
    yield from of_lines(typed)


def of_script(block: Block, folder: Path) -> Iterator[str]:
    yield from of_lines([*commands.of_script(block.text)])


def of_lines(typed: list[str]) -> Iterator[str]:
    for line in typed:
        for words in commands.calls(line):
            if told := commands.fault(words):
                yield told


def of_json(block: Block, folder: Path) -> Iterator[str]:
    for words in commands.started(jsontext.parse(block.text)):
        if told := commands.fault(words):
            yield told


def of_toml(block: Block, folder: Path) -> Iterator[str]:
    for words in commands.started(tomllib.loads(block.text)):
        if told := commands.fault(words):
            yield told


def of_python(block: Block, folder: Path) -> Iterator[str]:
    """Compile it, and look for what it imports of ours and of MCP."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
    tree = compile(block.text, block.place, "exec", flags)
    assert isinstance(tree, ast.Module)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            module = importlib.import_module(node.module or "")
            for name in node.names:
                if not hasattr(module, name.name):
                    yield f"`{node.module}` has no `{name.name}`"


OURS = {"gateway", "mcp"}
READ: Mapping[str, Callable[[Block, Path], Iterator[str]]] = {
    "yaml": of_yaml,
    "console": of_console,
    "sh": of_script,
    "json": of_json,
    "toml": of_toml,
    "python": of_python,
}


@pytest.mark.parametrize(
    "path", pages.paths(), ids=[str(each.relative_to(pages.ROOT)) for each in pages.paths()]
)
def test_every_block_of_a_page_is_what_it_says(path: Path, tmp_path: Path) -> None:
    faults = [
        f"{block.place}: {told}"
        for block in pages.page(path).blocks
        if (told := checked(block, tmp_path))
    ]
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("yaml", "servers: {a: {comand: x}}\n", "did you mean `command`"),
        ("yaml", "rules: [{id: a, decision: alow}]\n", "`alow`"),
        ("yaml", "rules: [{id: a, decision: allow, when: arg.x > 1}]\n", "did you mean `args`"),
        ("yaml", "effect: wrote\n", "wrote"),
        ("yaml", "tests: [{name: a, call: b.c}]\n", "expect"),
        ("yaml", "runs: {a: {mod: host}}\n", "mod"),
        ("yaml", "colour: red\n", "no kind of file"),
        ("console", "$ weighbridge polcy lint\n", "no command `weighbridge polcy`"),
        ("console", "$ weighbridge policy lint --fomat json\n", "--fomat"),
        ("console", "$ FOO=1 weighbridge replay --fail-on nothing | jq .\n", "nothing"),
        ("console", "$ weighbridge keys new\n", "is missing"),
        ("console", "weighbridge status\n", "no line begins"),
        ("sh", "if true; then weighbridge policy; fi\n", "is a group"),
        ("json", '{"a": {"command": "/x/weighbridge", "args": ["stdoi"]}}', "stdoi"),
        ("json", "{", "JSON"),
        ("toml", 'command = "weighbridge"\nargs = ["stdio", "--konfig", "x"]\n', "--konfig"),
        ("python", "x = (\n", "never closed"),
        ("python", "from gateway.client import Clint\n", "`Clint`"),
        ("rust", "fn main() {}\n", "nothing reads"),
        ("", "what?\n", "without a language"),
    ],
)
def test_a_block_that_a_reader_would_stumble_over_is_found(
    language: str, text: str, told: str, tmp_path: Path
) -> None:
    block = Block(page=pages.DOCS / "x.md", line=1, language=language, text=text, note="", about="")
    assert told.lower() in checked(block, tmp_path).lower()
