"""C2SP tlog-checkpoint."""

import pytest

from gateway.events import checkpoints, notes
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import NoteError, Signer

ROOT = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
SIGNER = Signer(name="log.example/a", seed=b"1" * 32)
MADE = Checkpoint(origin="log.example/a", size=12, root=bytes(range(32)))


def test_a_checkpoint_is_origin_size_and_root() -> None:
    assert MADE.text() == f"log.example/a\n12\n{ROOT}\n"
    assert checkpoints.parse(MADE.text()) == MADE


def test_a_signed_one_comes_back_from_its_note() -> None:
    note = notes.parse(MADE.signed([SIGNER]))
    assert note.signed_by([SIGNER.key]) == (SIGNER.key,)
    assert checkpoints.parse(note.text) == MADE


def test_further_lines_mean_nothing_to_us() -> None:
    assert checkpoints.parse(MADE.text() + "extension\n") == MADE


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"log\n12\n{ROOT}",
        f"log\n12\n{ROOT}\n\n",
        f"\n12\n{ROOT}\n",
        f"log\n012\n{ROOT}\n",
        f"log\n-1\n{ROOT}\n",
        f"log\n\u0661\n{ROOT}\n",
        "log\n12\nAAEC\n",
        "log\n12\n???\n",
    ],
)
def test_other_texts_are_no_checkpoints(text: str) -> None:
    with pytest.raises(NoteError):
        checkpoints.parse(text)
