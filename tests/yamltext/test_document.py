"""Places in a document."""

from gateway import yamltext

TEXT = """\
tools:
  crm.find:
    scopes: [a, "b"]
empty:
"""


def test_values_and_keys_have_lines_and_columns_from_one() -> None:
    document = yamltext.load(TEXT, file="f")
    assert document.place(("tools", "crm.find", "scopes", 1)) == (3, 17)
    assert document.place(("tools", "crm.find", "scopes")) == (3, 13)
    assert document.key_place(("tools", "crm.find", "scopes")) == (3, 5)
    assert document.place(()) == (1, 1)
    assert document.place(("empty",)) == (4, 7)


def test_what_is_missing_stands_where_its_parent_stands() -> None:
    document = yamltext.load(TEXT, file="f")
    assert document.place(("tools", "crm.find", "risk")) == (3, 5)
    assert document.key_place(("tools", "crm.find", "scopes", 9)) == (3, 13)
    assert document.place(("nowhere",)) == (1, 1)
