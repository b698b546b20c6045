"""One line of the configuration changes, and no other letter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import yamltext
from gateway.config.mode_line import with_mode
from gateway.errors import FileError
from gateway.types.decisions import Mode

AROUND = "# head\n\n{line}servers: {{}}  # none\n# end"


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("mode: observe\n", "mode: enforce\n"),
        ("mode:   observe   # until Friday\n", "mode:   enforce   # until Friday\n"),
        ('mode: "observe"\r\n', 'mode: "enforce"\r\n'),
        ("'mode': 'observe'\n", "'mode': 'enforce'\n"),
        ("mode: enforce\n", "mode: enforce\n"),
    ],
)
def test_only_the_value_changes(line: str, changed: str) -> None:
    text = AROUND.format(line=line)
    found = with_mode(text, Mode.ENFORCE, file="c.yaml")
    assert found == AROUND.format(line=changed)
    assert with_mode("\ufeff" + text, Mode.ENFORCE, file="c.yaml") == "\ufeff" + found


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("servers: {}\n", "mode: observe\nservers: {}\n"),
        ("# about\n\nservers: {}", "# about\n\nmode: observe\nservers: {}"),
        ("# of servers\nservers: {}\n", "mode: observe\n# of servers\nservers: {}\n"),
        (
            "# yaml-language-server: $schema=x\nservers: {}\n",
            "# yaml-language-server: $schema=x\nmode: observe\nservers: {}\n",
        ),
        ("servers: {}\r\n", "mode: observe\r\nservers: {}\r\n"),
    ],
)
def test_a_file_without_the_line_gets_one(text: str, changed: str) -> None:
    assert with_mode(text, Mode.OBSERVE, file="c.yaml") == changed


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("mode:\n  observe\n", "c.yaml:1:1"),
        ("{mode: observe, servers: {}}\n", "c.yaml:1:2"),
        ('{"servers": {}}\n', "c.yaml:1:1"),
        ("servers: {}\nmode: ${MODE}\n", "c.yaml:2:1"),
        ("servers: [\n", "c.yaml:"),
    ],
)
def test_what_a_person_has_to_change_is_said_with_its_place(text: str, place: str) -> None:
    with pytest.raises(FileError) as raised:
        with_mode(text, Mode.ENFORCE, file="c.yaml")
    assert str(raised.value).startswith(place)


COMMENTS = st.text(st.characters(categories=("L", "N", "Zs", "P"), exclude_characters="\x85"))
LINES = st.lists(
    st.one_of(
        st.just("\n"),
        COMMENTS.map(lambda text: f"# {text}\n"),
        st.sampled_from(["mode: observe # x\n", "servers: {}\n", "store: sqlite:///a.db\n"]),
    ),
    max_size=8,
    unique_by=lambda line: line.split(":")[0] if ":" in line else object(),
)


@given(lines=LINES)
def test_there_and_back_is_what_there_was(lines: list[str]) -> None:
    text = "".join(lines)
    if "mode: observe" not in text:
        return
    there = with_mode(text, Mode.ENFORCE, file="c.yaml")
    assert yamltext.load(there, file="c.yaml").value["mode"] == "enforce"
    assert with_mode(there, Mode.OBSERVE, file="c.yaml") == text
