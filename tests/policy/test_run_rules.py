"""What a file of templates may say."""

import pytest

from gateway import yamltext
from gateway.errors import FileError
from gateway.policy.run_rules import RunTemplates, TemplateSection
from gateway.types.runs import Mode, Phase
from gateway.types.tools import Risk

HEAD = "runs:\n  refund:\n"


def read(body: str) -> TemplateSection:
    document = yamltext.load(HEAD + body, file="r.yaml")
    return yamltext.validate(RunTemplates, document, file="r.yaml").runs["refund"]


def test_a_template_says_everything_that_it_can() -> None:
    found = read(
        """\
    mode: host
    objective: give back what was charged twice
    fields: {customer_id: {required: true, from: [user, crm.customer_id]}, amount: {}}
    phases:
      acting: {enter_when: [fields.customer_id, evidence >= 1], tools: [desk.refund]}
      finalizing: {tools: [crm.add_note]}
    during_wait: [desk.refund]
    completed_when: [verified(desk.refund)]
    limits:
      {wall: 2h, idle: 30m, calls: 80, writes: 3, tokens: 9, money: {argument: /amount, max: 5}}
    explicit_for: [critical]
"""
    )
    assert found.mode is Mode.HOST
    assert found.fields["customer_id"].sources == ("user", "crm.customer_id")
    assert found.phases[Phase.ACTING].enter_when == ("fields.customer_id", "evidence >= 1")
    assert (found.limits.wall, found.limits.idle) == (7200.0, 1800.0)
    assert [each.argument for each in found.limits.money] == ["/amount"]
    assert found.explicit_for == (Risk.CRITICAL,)


def test_one_sum_or_several_may_be_limited() -> None:
    money = "[{argument: /amount, max: 5}, {argument: /fee, max: 1}]"
    assert len(read(f"    limits: {{money: {money}}}\n").limits.money) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("mode: agnet", "did you mean `agent`?"),
        ("modes: agent", "unknown key `modes`; did you mean `mode`?"),
        ("fields: {a-b: {}}", "has to match"),
        ("fields: {in: {}}", "`in` is a word of expressions; name the field otherwise"),
        ("fields: {a: {from: []}}", "is empty; write at least one"),
        ("phases: {completed: {}}", "has `completed`, which no guard leads to"),
        ("phases: {awaiting_approval: {}}", "has `awaiting_approval`, which no guard leads to"),
        ("phases: {actin: {}}", "did you mean `acting`?"),
        ("phases: [acting]", "has to be a map"),
        ("phases: {acting: {tools: [refund]}}", "should name a tool as `server.name`"),
        ("limits: {wall: 2}", "is no duration"),
        ("limits: {calls: 0}", "has to be at least `1`"),
        ("limits: {money: {argument: amount, max: 5}}", "is not a JSON Pointer"),
        ("limits: {money: {argument: '/*/amount', max: 5}}", "has to name one argument"),
        ("limits: {money: {argument: '', max: 5}}", "has to name one argument"),
        (
            "{phases: {acting: {tools: [a.b]}}, during_wait: [a.c]}",
            "has `a.c` in `during_wait` and not among the tools of `acting`",
        ),
    ],
)
def test_what_means_nothing_is_refused_where_it_stands(body: str, message: str) -> None:
    with pytest.raises(FileError) as raised:
        read(f"    {body}\n")
    assert message in str(raised.value)
    assert str(raised.value).startswith(("r.yaml:2:", "r.yaml:3:"))


def test_a_file_without_templates_is_none() -> None:
    with pytest.raises(FileError, match="is empty; write at least one"):
        yamltext.validate(RunTemplates, yamltext.load("runs: {}", file="r.yaml"), file="r.yaml")
