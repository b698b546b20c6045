import re
from pathlib import Path

import pytest

from gateway.store import queries

SOURCE = Path(queries.__file__).parent
CODE = "\n".join(path.read_text() for path in SOURCE.glob("*.py"))


@pytest.mark.parametrize("name", queries.statements())
def test_every_statement_is_used(name: str) -> None:
    assert f'"{name.removesuffix("_at_once")}"' in CODE


def test_every_statement_has_a_sentence_that_says_what_it_does() -> None:
    text = "\n".join(path.read_text() for path in (SOURCE / "sql").glob("*.sql"))
    heads = re.findall(r"^-- name: \w+\n-- [A-Z]", text, re.MULTILINE)
    assert len(heads) == len(queries.statements())


def test_parameters_become_those_of_the_driver_and_nothing_else_changes() -> None:
    text = "SELECT 'a%' WHERE a = :name AND b::text = :other_name"
    assert queries.psycopg_form(text) == (
        "SELECT 'a%%' WHERE a = %(name)s AND b::text = %(other_name)s"
    )


def test_an_insertion_is_written_out_for_so_many_rows() -> None:
    text, names = queries.of_rows("keep_fact", 2)
    assert names == ("name", "value")
    assert text == (
        "INSERT INTO meta (name, value) VALUES (?, ?), (?, ?) ON CONFLICT (name) DO NOTHING"
    )


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_migrations_are_numbered_without_gaps_and_end_with_the_dialects_own_part(
    dialect: str,
) -> None:
    found = queries.migrations(dialect)
    assert [number for number, _, _ in found] == list(range(1, len(found) + 1))
    start = found[0][2]
    assert start.index("CREATE TABLE events") < start.index("CREATE TRIGGER")
    assert ("plpgsql" in start) == (dialect == "postgres")
