import pytest

from gateway.events.checkpoints import Checkpoint
from gateway.events.notes import NoteError, Signer
from gateway.events.trust import Trust

OLD = Signer(name="log.example/a", seed=b"1" * 32)
NEW = Signer(name="log.example/a", seed=b"2" * 32)
MADE = Checkpoint(origin="log.example/a", size=7, root=b"r" * 32)


def test_a_checkpoint_counts_when_a_trusted_key_has_signed_it() -> None:
    assert Trust([OLD.key]).checked(MADE.signed([NEW, OLD])) == (MADE, (OLD.key,))
    with pytest.raises(NoteError, match="nobody who is trusted has signed it, but"):
        Trust([OLD.key]).checked(MADE.signed([NEW]))


def test_a_key_speaks_for_its_own_log_only() -> None:
    other = Checkpoint(origin="log.example/b", size=7, root=b"r" * 32)
    with pytest.raises(NoteError, match="another log"):
        Trust([OLD.key]).checked(other.signed([OLD]))


def test_a_key_takes_over_when_it_was_announced_and_both_have_signed() -> None:
    trust = Trust([OLD.key])
    trust.hand_over(MADE.signed([OLD, NEW]))
    assert trust.keys == (OLD.key,)
    trust.announce(str(NEW.key))
    assert trust.keys == (OLD.key,)
    trust.hand_over(MADE.signed([OLD]))
    assert trust.keys == (OLD.key,)
    trust.hand_over(MADE.signed([OLD, NEW]))
    assert trust.keys == (OLD.key, NEW.key)
    assert trust.checked(MADE.signed([NEW])) == (MADE, (NEW.key,))


def test_what_is_no_key_announces_nothing_and_a_forged_line_hands_nothing_over() -> None:
    trust = Trust([OLD.key])
    trust.announce("nonsense")
    trust.announce(str(NEW.key))
    trust.hand_over(MADE.signed([OLD, NEW]).replace("\n7\n", "\n8\n"))
    assert trust.keys == (OLD.key,)
