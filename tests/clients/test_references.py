"""References of clients, and ours for them."""

from pathlib import PurePath

import pytest

from gateway.clients.kinds import Dialect
from gateway.clients.references import Around, Untranslatable, escaped, find, input_variable

AROUND = Around(project=PurePath("/p/app"), home=PurePath("/home/ana"))


def said(text: str, dialect: Dialect) -> list[tuple[str, str, str]]:
    return [(each.text, each.variable, each.source) for each in find(text, dialect, AROUND)]


def test_claude_code_has_our_syntax() -> None:
    found = said("x${A}y${B:-c d}${not one}$D", Dialect.CLAUDE)
    assert found == [("${A}", "A", "${A}"), ("${B:-c d}", "B", "${B:-c d}")]


def test_editors_name_variables_inputs_and_folders() -> None:
    text = "${env:A}${input:my-key}${workspaceFolder}${userHome}${/}${workspaceFolderBasename}"
    assert said(text, Dialect.EDITOR) == [
        ("${A}", "A", "${env:A}"),
        ("${INPUT_MY_KEY}", "INPUT_MY_KEY", "${input:my-key}"),
        ("/p/app", "", ""),
        ("/home/ana", "", ""),
        ("/", "", ""),
        ("app", "", ""),
    ]


@pytest.mark.parametrize("text", ["${config:x}", "${command:x}", "${A}", "${workspaceFolder:b}"])
def test_what_only_an_editor_knows_is_told(text: str) -> None:
    with pytest.raises(Untranslatable, match="which only the client knows"):
        find(text, Dialect.EDITOR, AROUND)


@pytest.mark.parametrize("text", ["${A:-${B}}", "US$${A}"])
def test_what_reads_in_two_ways_is_not_guessed(text: str) -> None:
    with pytest.raises(Untranslatable):
        find(text, Dialect.CLAUDE, AROUND)


def test_without_a_project_there_is_no_workspace() -> None:
    with pytest.raises(Untranslatable):
        find("${workspaceFolder}", Dialect.EDITOR, Around(project=None, home=None))


def test_where_a_client_has_no_references_there_are_none() -> None:
    assert not said("${A}", Dialect.NONE)
    assert escaped("a ${A} $B") == "a $${A} $B"


def test_no_input_takes_the_place_of_a_variable_of_the_gateway() -> None:
    assert input_variable("path") == "INPUT_PATH"
    assert input_variable("ž") == "INPUT"


@pytest.mark.parametrize("text", ["$${T:-hunter2}", "${A:-hunter2${B}}", "${A:-x${B:-hunter2}}"])
def test_a_default_may_be_a_secret_and_is_in_no_message(text: str) -> None:
    with pytest.raises(Untranslatable) as raised:
        find(text, Dialect.CLAUDE, Around(project=None, home=None))
    assert "hunter2" not in str(raised.value)
