import pytest

from gateway.types.runs import BindingKind, Phase, Trust


@pytest.mark.parametrize("phase", Phase)
def test_three_phases_are_the_end_of_a_run(phase: Phase) -> None:
    assert phase.is_final == (phase in {Phase.COMPLETED, Phase.HANDOFF, Phase.FAILED})


@pytest.mark.parametrize(
    ("kind", "trust", "is_explicit", "is_weak"),
    [
        (BindingKind.META, Trust.HOST, True, False),
        (BindingKind.HEADER, Trust.HOST, True, False),
        (BindingKind.TOOL, Trust.MODEL, True, False),
        (BindingKind.CONVERSATION, Trust.CLIENT, False, False),
        (BindingKind.SESSION, Trust.CLIENT, False, True),
        (BindingKind.PRINCIPAL, Trust.HINT, False, True),
    ],
)
def test_a_binding_is_believed_as_far_as_its_source(
    kind: BindingKind, trust: Trust, is_explicit: bool, is_weak: bool
) -> None:
    assert (kind.trust, kind.is_explicit, kind.is_weak) == (trust, is_explicit, is_weak)
