"""The review of a change, in its three forms."""

import json

from gateway import jsontext
from gateway.actions import review
from gateway.actions.comparing import compare
from gateway.types.json import JsonObject
from gateway.types.tools import Effect, Risk
from tests.helpers.edits import TEXTS, a_revision, a_written_contract, after, edited
from tests.journeys import house

WIDER = ("args.amount <= 1000.0", "args.amount <= 5000.0")
OTHER = ("max: {limit: 50}", "max: {limit: 500}")


def test_people_read_what_grants_more_first_with_an_example_and_the_places() -> None:
    found = after(("tenants: [acme, initech]", "tenants: [acme, inittech]"), WIDER, OTHER)
    lines = review.text(found).splitlines()
    assert "generated calls" in lines[0]
    order = [lines.index(each) for each in ("WIDER", "NARROWER", "SAME DECISION, OTHER EFFECT")]
    assert order == sorted(order)
    at = next(n for n, line in enumerate(lines) if "crm.find: deny" in line)
    assert lines[at].startswith("  crm.find: deny (no_matching_rule) → allow (find)  x")
    assert lines[at + 1] == "      old/rules.yaml:12 → new/rules.yaml:12"
    assert lines[at + 2].startswith("      e.g. roles=")
    assert lines[at + 2].endswith(' tenant=inittech args={"query":"x"}')
    assert "  wider     crm.find: allow (find)" in "\n".join(lines)
    assert "      `max` of `/limit`: 50 → 500" in lines
    assert review.NO_PROOF in lines
    assert "+++ new/rules.yaml" in lines
    assert "+++ new/rules.yaml" not in review.text(found, texts=False)


def test_nothing_to_see_is_said_as_well() -> None:
    said = review.text(after())
    assert "0 differ" in said
    assert "NO CALL IS DECIDED ANOTHER WAY" in said
    assert review.NO_PROOF in said


def test_what_was_not_tried_is_told() -> None:
    cut = compare(a_revision(), a_revision(edited(WIDER)), most=30)
    assert "not all was tried: --requests lets more be" in review.text(cut)
    found = after(
        (
            "    when: args.amount <= 100.0 && args.currency in sets.paid_in\n",
            "    when: args.note == 'a' && args.note == 'b'\n",
        ),
        ("id: refund.small", "id: refund.none"),
    )
    assert "no call met `refund.none`: of these rules nothing is known" in review.text(found)
    query: JsonObject = {"type": "string", "allOf": [{"pattern": "^ab"}, {"pattern": "cd$"}]}
    odd = a_written_contract("crm", "odd", {"query": query}, ["query"], Effect.READ, Risk.LOW)
    texts = {**TEXTS, "contracts/odd.yaml": house.contracts(odd)}
    never = compare(a_revision(texts), a_revision(texts))
    assert "no arguments could be made for `crm.odd`" in review.text(never)


def test_a_comment_has_tables_that_nothing_breaks_out_of() -> None:
    found = after(("paid_in: [EUR, USD]", "paid_in: [EUR, USD, 'a|b`c']"), WIDER)
    said = review.markdown(found)
    rows = [line for line in said.splitlines() if line.startswith("| wider")]
    assert rows
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
    assert "**Wider**" in said
    assert "<details><summary>Texts</summary>" in said
    assert "```diff" in said
    assert "<details>" not in review.markdown(found, texts=False)
    contract = after(("risk: high", "risk: medium"), file="contracts/all.yaml")
    assert "**Contracts**" in review.markdown(contract)
    assert "| wider | `pay.refund` | risk: high → medium |" in review.markdown(contract)


def test_words_of_files_are_no_markup_in_a_comment() -> None:
    found = review.markdown(after(("max: 20, window: 1h}", "max: 21, window: 1h}")))
    assert "limit \\`refunds\\`: 20 in 3600 s" in found


def test_a_fence_is_longer_than_any_in_the_texts() -> None:
    rules = TEXTS["rules.yaml"] + "# ```` four\n"
    found = compare(a_revision(), a_revision({**TEXTS, "rules.yaml": rules}))
    assert "\n`````diff\n" in review.markdown(found)


def test_programs_get_everything() -> None:
    found = after(WIDER, ("tenants: [acme, initech]", "tenants: [acme]"), OTHER)
    said = json.loads(jsontext.dump(review.to_json(found)))
    assert (said["wider"], said["narrower"], said["other"]) == (2, 1, 0)
    assert (said["is_proof"], said["complete"]) == (False, True)
    group = next(each for each in said["groups"] if each["of"] == "pay.refund")
    assert group["before"]["decision"] == "deny"
    assert group["after"] == {
        "decision": "require_approval",
        "rule": "refund.large",
        "place": group["after"]["place"],
    }
    assert group["after"]["place"].startswith("new/rules.yaml:")
    assert group["example"]["arguments"]["amount"] > 1000
    assert review.summary(found) == {
        "requests": said["requests"],
        "wider": 2,
        "narrower": 1,
        "other": 0,
    }


def test_what_is_not_as_always_stands_in_an_example() -> None:
    (group,) = [
        each
        for each in after((" && !run.tainted", "")).impact.groups
        if each.cause.target == "crm.close"
    ]
    said = review.example(group.example)
    assert '"tainted":true' in said
    hour = after(("now.getHours() < 8", "now.getHours() < 9")).impact.groups[0].example
    assert "now=2026-01-05T08:30:00+00:00" in review.example(hour)
    long = after(("size(args.body) <= 200", "size(args.body) <= 201")).impact.groups[0].example
    assert "xxxxxxxx… (201 characters)" in review.example(long)
