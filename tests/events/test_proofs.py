"""C2SP tlog-proof."""

import pytest

from gateway.events import proofs, tree
from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import NoteError, Signer
from gateway.events.proofs import Proof

SIGNER = Signer(name="log.example/a", seed=b"1" * 32)
DATA = [str(number).encode() for number in range(7)]
LEAVES = [tree.leaf_hash(each) for each in DATA]
MADE = Checkpoint(origin="log.example/a", size=7, root=tree.root_of(LEAVES))


def a_proof(index: int) -> Proof:
    path = tree.inclusion(index, 7, lambda start, end: tree.root_of(LEAVES[start:end]))
    return Proof(index=index, path=tuple(path), note=MADE.signed([SIGNER]))


def test_a_proof_is_read_as_it_was_written() -> None:
    text = a_proof(6).text()
    assert text.startswith("c2sp.org/tlog-proof@v1\nindex 6\n")
    assert proofs.parse(text) == a_proof(6)
    assert proofs.parse(text.replace("\nindex", "\nextra AAAA\nindex")) == a_proof(6)


@pytest.mark.parametrize("index", range(7))
def test_a_proof_leads_from_the_bytes_to_a_signed_root(index: int) -> None:
    assert a_proof(index).proven(DATA[index], [SIGNER.key]) == MADE
    with pytest.raises(NoteError, match="doesn't lead"):
        a_proof(index).proven(DATA[index] + b" ", [SIGNER.key])
    with pytest.raises(NoteError, match="nobody who is trusted"):
        a_proof(index).proven(DATA[index], [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "c2sp.org/tlog-proof@v2\nindex 1\n\nnote",
        "c2sp.org/tlog-proof@v1\nindex 1\n",
        "c2sp.org/tlog-proof@v1\n\nnote",
        "c2sp.org/tlog-proof@v1\nindex 01\n\nnote",
        "c2sp.org/tlog-proof@v1\nindex x\n\nnote",
        "c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\nnote",
        "c2sp.org/tlog-proof@v1\nindex 1\n?\n\nnote",
        "c2sp.org/tlog-proof@v1\nextra AAAA\n\nnote",
    ],
)
def test_other_texts_are_no_proofs(text: str) -> None:
    with pytest.raises(NoteError):
        proofs.parse(text)
