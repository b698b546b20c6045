"""Rows that come one by one: nothing but the first of them waits."""

from gateway.cli import rows


def written(form: str, headers: list[str], *cells: list[str]) -> str:
    said = list[str]()
    sheet = rows.SHEETS[form](headers, said.append)
    for row in cells:
        sheet.add(row)
    sheet.end()
    return "".join(said)


def test_a_table_is_as_wide_as_what_it_holds() -> None:
    assert written("table", ["id", "name"], ["1", "x"], ["22222", "y"]) == (
        "id     name\n1      x\n22222  y\n"
    )


def test_a_table_without_rows_has_its_headers() -> None:
    assert written("table", ["id", "name"]) == "id  name\n"
    assert written("csv", ["id", "name"]) == "id,name\r\n"


def test_what_comes_late_is_not_waited_for() -> None:
    said = list[str]()
    table = rows.Table(["id"], said.append)
    for number in range(300):
        table.add([str(number)])
        assert len(said) in (0, number + 2)
    table.add(["x" * 50])
    assert said[-1] == "x" * 50 + "\n"
    table.end()
    assert len(said) == 302


def test_a_name_cant_pose_as_a_row_of_its_own() -> None:
    assert written("table", ["tool"], ["a\nb\x1b[2J"]) == "tool\na\\u{a}b\\u{1b}[2J\n"
    assert written("csv", ["tool"], ["=a\nb"]) == "tool\r\n'=a\\u{a}b\r\n"


def test_a_line_of_json_ends() -> None:
    assert rows.json_line({"a": "\n"}) == '{"a":"\\n"}\n'
