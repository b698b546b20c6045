"""One key of an entry changes; comments, order and all other entries stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import yamltext
from gateway.contracts.editing import with_key
from gateway.errors import FileError
from gateway.types.json import Json

FILE = """\
# head
tools:
  # of find
  crm.find:
    pin: "sha256:a"   # as seen
    effect: write # guessed

    # why
    risk: 'high'
    reviewed: false
    sensitive:
      # mail
      /email: personal
      /token: secret
    idempotency:
      intent:
      - /id
      retry: never

    # what it says
    definition:
      name: find
      description: |
        text
        # no comment
        tools:

  # of other
  crm.other: {pin: b, effect: read, risk: low, definition: {name: other}}
# end
"""


def edited(key: str, value: Json, text: str = FILE, tool: str = "crm.find") -> str:
    return with_key(text, tool, key, value, file="c.yaml")


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("effect", "read", "effect: write # guessed", "effect: read # guessed"),
        ("pin", "sha256:b", '"sha256:a"   # as seen', "sha256:b   # as seen"),
        ("risk", "low", "risk: 'high'", "risk: low"),
        ("reviewed", True, "reviewed: false", "reviewed: true"),
        (
            "sensitive",
            {"/email": "secret"},
            "      # mail\n      /email: personal\n      /token: secret\n",
            "      /email: secret\n",
        ),
        (
            "sensitive",
            None,
            "    sensitive:\n      # mail\n      /email: personal\n      /token: secret\n",
            "",
        ),
        ("idempotency.intent", ["/a"], "      - /id\n", "      - /a\n"),
        ("idempotency.intent", None, "      intent:\n      - /id\n", ""),
        ("idempotency.window", "1h", "retry: never\n", "retry: never\n      window: 1h\n"),
        (
            "scopes",
            ["crm:write"],
            "    # what it says\n",
            "    scopes:\n    - crm:write\n    # what it says\n",
        ),
        (
            "outcome.old",
            {"tool": "x"},
            "    # what it says\n",
            "    outcome:\n      old:\n        tool: x\n    # what it says\n",
        ),
    ],
)
def test_nothing_but_the_key_changes(key: str, value: Json, before: str, after: str) -> None:
    found = edited(key, value)
    assert found == FILE.replace(before, after)
    assert _value(found, key) == value


def _value(text: str, key: str) -> Json:
    value: Json = yamltext.load(text, file="c.yaml").value
    for part in ("tools", "crm.find", *key.split(".")):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def test_a_definition_is_replaced_whole() -> None:
    found = edited("definition", {"name": "find", "title": "a: \u202e #b"})
    head, _, rest = FILE.partition("    definition:\n")
    end = "\n  # of other\n" + rest.partition("\n  # of other\n")[2]
    written = '    definition:\n      name: find\n      title: "a: \\u202E #b"\n'
    assert found == head + written + end


def test_the_last_key_of_a_section_takes_the_section_along() -> None:
    text = FILE.replace("      retry: never\n", "")
    found = edited("idempotency.intent", None, text)
    assert found == text.replace("    idempotency:\n      intent:\n      - /id\n", "")
    assert edited("idempotency.intent", None, found) == found
    assert edited("audit.seal", None) == FILE


@pytest.mark.parametrize(
    ("tool", "key", "said"),
    [("crm.other", "effect", "in braces"), ("crm.gone", "effect.x", "no entry for `crm.gone`")],
)
def test_what_a_person_has_to_change_is_said(tool: str, key: str, said: str) -> None:
    with pytest.raises(FileError, match=said):
        edited(key, "read", tool=tool)


TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs", "Cf")), max_size=30)
VALUES = st.recursive(
    st.one_of(TEXTS, st.booleans(), st.integers(-9, 9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


@given(
    key=st.sampled_from(["risk", "sensitive", "idempotency.intent", "definition", "x.y", "note"]),
    value=VALUES,
)
def test_any_value_is_read_back_and_what_is_around_stays(key: str, value: Json) -> None:
    found = edited(key, value)
    assert _value(found, key) == value
    before, after = (yamltext.load(text, file="c.yaml").value for text in (FILE, found))
    assert after["tools"]["crm.other"] == before["tools"]["crm.other"]  # type: ignore[index,call-overload] - maps
    for line in ("# head", "# of find", "# guessed", "# as seen", "# why", "# of other", "# end"):
        assert line in found
