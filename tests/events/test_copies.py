import pytest

from gateway import jsontext
from gateway.events import copies
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import NoteError, Signer
from gateway.events.redact import Redactor
from tests.helpers.cases import NOW

SIGNER = Signer(name="log.example/a", seed=b"1" * 32)
NOTE = Checkpoint(origin="log.example/a", size=7, root=b"r" * 32).signed([SIGNER])
RECORD = copies.record(NOTE, SIGNER.key, NOW)
LINE = jsontext.dump(RECORD).decode() + "\n"


def test_a_copy_says_what_its_note_says() -> None:
    assert (RECORD["origin"], RECORD["size"], RECORD["note"]) == ("log.example/a", 7, NOTE)
    assert RECORD["root"] == (b"r" * 32).hex()


def test_a_copy_goes_through_the_log_as_it_is() -> None:
    redactor = Redactor(lambda tenant: b"k" * 32)
    assert redactor.text(LINE) == LINE


def test_checkpoints_are_read_from_notes_lines_and_what_webhooks_got() -> None:
    event = jsontext.dump(copies.cloud_event(RECORD)).decode()
    assert [mark.place for mark in copies.read(NOTE, "a.txt")] == ["a.txt"]
    marks = list(copies.read(f"{LINE}\n{event}\n", "a.jsonl"))
    assert [(mark.size, mark.place) for mark in marks] == [(7, "a.jsonl:1"), (7, "a.jsonl:3")]
    assert all(mark.is_outside and mark.note == NOTE for mark in marks)
    assert [mark.size for mark in copies.read(event, "body.json")] == [7]


def test_a_line_that_was_never_written_whole_is_left_out() -> None:
    assert len(list(copies.read(LINE + LINE[:40], "a"))) == 1


@pytest.mark.parametrize(
    "text",
    ["", "text", "{\n" + LINE, LINE + "[]\n", '{"note": 7}\n', '{"note": "text"}\n'],
)
def test_anything_else_is_told_with_its_place(text: str) -> None:
    with pytest.raises(NoteError, match=r"^a"):
        list(copies.read(text, "a"))
