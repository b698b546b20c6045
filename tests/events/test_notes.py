"""C2SP signed-note; keys and one signature as in the tests of Go's `sumdb/note`."""

import base64

import pytest

from gateway.events import notes
from gateway.events.notes import Key, NoteError, Signer

SECRET = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PUBLIC = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NEW = Signer(name="log.example/a", seed=b"1" * 32)
OLD = Signer(name="log.example/a", seed=b"2" * 32)


def test_keys_are_written_as_other_tools_write_them() -> None:
    signer = notes.signer_of(SECRET + "\n")
    assert str(signer.key) == PUBLIC
    assert signer.secret() == SECRET
    assert notes.key_of(PUBLIC) == signer.key


def test_a_signature_is_the_one_that_other_tools_make() -> None:
    text = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
    )
    made = notes.signed(text, [notes.signer_of(SECRET)])
    assert made == (
        f"{text}\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZ"
        "SNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )


def test_a_secret_shows_in_no_representation() -> None:
    assert "1" * 8 not in repr(NEW)
    assert base64.b64encode(NEW.seed).decode()[:8] not in repr(NEW)


def test_a_note_may_be_signed_by_several_keys_of_one_name() -> None:
    note = notes.parse(notes.signed("text\n\nmore\n", [OLD, NEW]))
    assert note.text == "text\n\nmore\n"
    assert note.signed_by([NEW.key]) == (NEW.key,)
    assert note.signed_by([NEW.key, OLD.key]) == (NEW.key, OLD.key)


def test_who_is_not_known_has_signed_nothing() -> None:
    note = notes.parse(notes.signed("text\n", [OLD]))
    assert note.signed_by([NEW.key]) == ()
    assert note.signed_by([Key(name="other", public=OLD.key.public)]) == ()


def test_a_signature_over_another_text_of_a_known_key_is_an_error() -> None:
    signed = notes.signed("text\n", [OLD, NEW])
    forged = notes.parse(signed.replace("text", "test"))
    with pytest.raises(NoteError, match="doesn't hold"):
        forged.signed_by([OLD.key])


@pytest.mark.parametrize(
    "note",
    [
        "",
        "text\n",
        "text\n\n",
        "text\n\n\u2014 a b\n",
        "text\n\n- a AAAAAAAA\n",
        "text\n\n\u2014 a AAAAAAAA",
        "te\txt\n\n\u2014 a AAAAAAAA\n",
        "text\n\n\u2014  AAAAAAAA\n",
        "text\n\n\u2014 a AAAA\n",
        "text\n\n" + "\u2014 a AAAAAAAA\n" * 65,
        "x" * 70_000 + "\n\n\u2014 a AAAAAAAA\n",
    ],
)
def test_what_is_no_note_is_refused(note: str) -> None:
    with pytest.raises(NoteError):
        notes.parse(note)


@pytest.mark.parametrize("text", ["text", "te\rxt\n"])
def test_what_can_be_no_note_is_not_signed(text: str) -> None:
    with pytest.raises(NoteError):
        notes.signed(text, [NEW])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a+b+c",
        PUBLIC[:-4],
        PUBLIC.replace("Peter", "Paul"),
        "a b+c74f20a3+ARpc",
        "+c74f+A",
    ],
)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        notes.key_of(text)


@pytest.mark.parametrize("text", ["", PUBLIC, SECRET[:-4], SECRET.replace("Peter", "Paul")])
def test_what_is_no_private_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(NoteError) as caught:
        notes.signer_of(text)
    assert "AYEKFALV" not in str(caught.value)


def test_a_name_has_no_blanks_and_no_plus() -> None:
    assert notes.is_name("example.com/log-1")
    assert not any(map(notes.is_name, ("", "a b", "a+b", "a\n")))


def test_a_key_that_is_no_point_verifies_nothing() -> None:
    assert not Key(name="a", public=b"\xff" * 32).verifies("text\n", b"0" * 64)
