"""Requests that nobody makes, from what can be chosen of them."""

from gateway.policy.axes import axes
from gateway.policy.probes import ABSENT, Axes
from gateway.policy.run_cases import RunUnderTest
from gateway.types.calls import AuthMethod
from gateway.types.causes import Cause
from gateway.types.runs import Phase
from tests.helpers.probing import REFUND, a_probe, a_side
from tests.policy.example import NOW, policy

SMALL = Axes(
    target=REFUND,
    roles=((), ("support",), ("sre",)),
    scopes=((), ("pay",), ("pay", "read")),
    tenants=("other", "acme"),
    users=("somebody", "sam"),
    clients=("client",),
    ways_in=(AuthMethod.JWT, AuthMethod.LOCAL),
    causes=tuple(Cause),
    phases=(Phase.ACTING, Phase.PLANNING),
    moments=(NOW,),
    templates=(None, "", "case"),
    tainted=(False, True),
    arguments={"amount": (1, 2), "note": (ABSENT, "x")},
    fields={"customer": (ABSENT, "r-1")},
    said={"customer": (ABSENT, "r-2"), "why": (ABSENT, "so")},
    counts={"evidence": (0, 1)},
)


def test_a_row_stands_for_one_request() -> None:
    assert len(SMALL.sizes) == len(SMALL.names) == 17
    plain = SMALL.probe((0,) * 17)
    assert (plain.arguments, plain.run, plain.roles) == ({"amount": 1}, None, ())
    rich = SMALL.probe((1, 2, 1, 1, 0, 1, 1, 1, 0, 2, 1, 1, 1, 1, 1, 1, 1))
    assert rich.arguments == {"amount": 2, "note": "x"}
    assert rich.run == RunUnderTest(
        template="case",
        fields={"customer": "r-1"},
        said={"why": "so"},  # what a host has said is not the model's word any more
        tainted=True,
        evidence=1,
    )
    assert (rich.user, rich.phase, rich.authenticated_by) == ("sam", Phase.PLANNING, "local")


RULES = """\
rules:
  - id: it
    decision: allow
    match:
      tools: [payments.refund]
      roles: {any: [support, lead]}
      scopes: {all: [pay]}
      tenants: [acme]
      users: [sam]
      phases: [acting]
      templates: [case]
      authenticated_by: [local]
      causes: [caller]
  - {id: any, decision: deny}
"""


def test_a_rule_leaves_room_for_what_it_matches() -> None:
    it, other = policy(RULES).rules
    room = dict(zip(SMALL.names, SMALL.room(it, {"read"}), strict=True))
    assert room["identity.roles"] == (1,)
    assert room["identity.scopes"] == (2,)  # the contract wants another one
    assert room["identity.tenant"] == room["identity.user"] == (1,)
    assert (room["authenticated_by"], room["request.cause"]) == ((1,), (0,))
    assert (room["run.phase"], room["run.template"]) == ((0,), (2,))
    assert room["args.amount"] == room["run.tainted"] == (0, 1)
    assert [*map(len, SMALL.room(other, ()))] == [*SMALL.sizes]


def test_the_smaller_example_has_fewer_things_then_shorter_ones() -> None:
    plain = a_probe(arguments={"a": 1})
    assert plain.size < a_probe(arguments={"a": 1}, roles=("x",)).size
    assert plain.size < a_probe(arguments={"a": 100}).size
    assert plain.size < a_probe(arguments={"a": 1}, phase=Phase.PLANNING).size
    assert plain.size < a_probe(arguments={"a": 1}, run=RunUnderTest()).size


def test_a_program_reads_everything_that_it_needs_to_ask_again() -> None:
    said = a_probe(run=RunUnderTest(template="case"), roles=("x",)).to_json()
    assert said["run"] == {"template": "case"}
    assert (said["roles"], said["phase"], said["tenant"]) == (["x"], "acting", "acme")
    assert "run" not in a_probe().to_json()


def test_what_can_be_chosen_has_a_plain_value_of_everything() -> None:
    found = axes(REFUND, [a_side(), a_side()])
    assert all(found.sizes)
    assert found.probe((0,) * len(found.sizes)).run is None
