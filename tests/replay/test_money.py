from gateway.replay.money import moved
from gateway.replay.types import Money
from gateway.runs.templates import RunLimit, Template
from gateway.types.json import Json
from gateway.types.runs import Phase
from gateway.types.tools import Effect, Sensitivity
from tests.helpers.cases import a_contract
from tests.helpers.replays import TOOL, a_known_case, a_law, policy, recorded, rule, then_of
from tests.helpers.runs import a_run

LIMIT = {"id": "day", "per": ["tenant"], "sum": "args.amount", "max": 1, "window": "24h"}
COUNT = {"id": "calls", "per": ["tenant"], "max": 9, "window": "1h"}


def money(*rules: dict[str, Json], secret: str = "", **arguments: Json) -> Money | None:
    tags = {f"/{secret}": Sensitivity.SECRET} if secret else {}
    law = a_law(policy(*rules), a_contract(TOOL, sensitive=tags))
    return moved(then_of(recorded(a_known_case(law, arguments)), law))


def test_what_a_limit_sums_up_is_what_a_call_moves() -> None:
    assert money(rule(limits=[COUNT, LIMIT]), amount=250.5) == Money(amount=250.5)


def test_of_a_call_that_is_denied_the_amount_is_known_as_well() -> None:
    first = rule("first", "deny", when="args.amount > 100.0")
    assert money(first, rule(limits=[LIMIT]), amount=250) == Money(amount=250)


def test_a_count_of_calls_is_no_amount() -> None:
    assert money(rule(limits=[COUNT]), amount=250) is None


def test_an_amount_that_is_gone_or_was_never_sent_is_not_made_up() -> None:
    assert money(rule(limits=[LIMIT]), secret="amount", amount=250) is None
    assert money(rule(limits=[LIMIT])) is None


def test_the_argument_that_says_the_currency_is_told_with_it() -> None:
    contract = a_contract(TOOL)
    law = a_law(policy(rule(limits=[LIMIT])), contract)
    call = recorded(a_known_case(law, {"amount": 5, "currency": "EUR"}))
    assert moved(then_of(call, law)) == Money(amount=5, currency="EUR")


def of_run(
    limit: RunLimit, *rules: dict[str, Json], effect: Effect = Effect.WRITE, **arguments: Json
) -> Money | None:
    template = Template(name="refund", limits=(limit,))
    law = a_law(
        policy(*rules or (rule(),)),
        a_contract(TOOL, effect=effect),
        templates={"refund": template},
    )
    run = a_run(template="refund", phase=Phase.ACTING)
    call = recorded(a_known_case(law, arguments, run=run, run_id=run.run_id, phase=run.phase))
    return moved(then_of(call, law))


def test_where_rules_sum_up_nothing_the_limit_of_the_run_says_what_a_write_moves() -> None:
    limit = RunLimit(kind="money", maximum=600, argument="/amount", tools=frozenset({TOOL.key}))
    assert of_run(limit, amount=70, currency="EUR") == Money(amount=70, currency="EUR")
    assert of_run(limit, rule(limits=[{**LIMIT, "sum": "1.0"}]), amount=70) == Money(amount=1)
    assert of_run(limit, amount=70, effect=Effect.READ) is None
    assert of_run(limit, amount=-1) is None
    assert of_run(limit) is None


def test_a_limit_of_other_tools_or_of_counts_is_no_amount() -> None:
    other = RunLimit(kind="money", maximum=600, argument="/amount", tools=frozenset({"x.y"}))
    assert of_run(other, amount=70) is None
    assert of_run(RunLimit(kind="writes", maximum=6), amount=70) is None
