"""Contract files."""

import re
import textwrap
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from gateway.contracts import files
from gateway.contracts.pins import pin
from gateway.errors import FileError, FilesError
from gateway.types.audit import Audit, Level
from gateway.types.guarantees import (
    CallTemplate,
    Compensation,
    CompensationClass,
    Idempotency,
    Readback,
)
from gateway.types.tools import (
    Effect,
    Ensure,
    OnFail,
    ProvenanceRule,
    Risk,
    RiskRaise,
    Sensitivity,
    Source,
    SourceKind,
    SourceTrust,
    Yield,
)

PIN = pin({"name": "refund_payment", "inputSchema": {"type": "object"}})
TEXT = f"""\
apiVersion: weighbridge/v1
kind: ToolContracts
tools:
  billing.refund_payment:
    pin: {PIN}
    effect: write
    risk: high
    scopes: [payments:write]
    sensitive: {{/iban: secret, /note: personal}}
    results: {{sensitive: {{/a/*/b: secret}}, lenient: true, max_bytes: 1000, trusted_text: true}}
    risk_when: [{{when: args.amount > 10.0, risk: critical, reason: a large sum}}]
    idempotency: {{intent: [/customer_id, /amount], retry: never}}
    failure: {{retryable: [rate_limited], timeout: 30s}}
    outcome:
      ensure: [{{when: result.ok, message: not refunded}}]
      readback: {{tool: billing.get, args: {{id: $result.id}}, expect: result.ok}}
    compensation: {{tool: billing.cancel_refund, args: {{refund_id: $result.refund_id}}}}
    provenance:
      /customer_id:
        from: [results(crm.customer_id), "allowlist(a, b)", actor(tenant)]
        on_fail: approve
        same_record_as: /invoice_id
      /amount:
        from: ["results(a.total, within: run)", collected(amount), computed(0..100)]
        relate: {{same_record_as: /customer_id}}
        max_of: true
        trust_min: system
    yields: [{{type: crm.id, path: /a/*/id}}]
    when_tainted: approve
    retrieval: {{query: /q, documents: {{path: /a/*, source: /id, version: /v, chunk: /c}}}}
    definition: {{name: refund_payment, inputSchema: {{type: object}}}}
"""


def test_every_key_becomes_a_field_of_the_contract() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    assert contract.tool == "billing.refund_payment"
    assert contract.place == "c.yaml:4"
    assert (contract.pin, contract.effect, contract.risk) == (PIN, Effect.WRITE, Risk.HIGH)
    assert contract.reviewed
    assert contract.scopes == {"payments:write"}
    assert contract.sensitive == {"/iban": Sensitivity.SECRET, "/note": Sensitivity.PERSONAL}
    assert contract.sensitive_results == {"/a/*/b": Sensitivity.SECRET}
    assert (contract.lenient_output, contract.trusted_text) == (True, True)
    assert (contract.max_result_bytes, contract.timeout_s) == (1000, 30.0)
    assert contract.raises == (
        RiskRaise(when="args.amount > 10.0", reason="a large sum", risk=Risk.CRITICAL),
    )
    assert contract.ensure == (Ensure(when="result.ok", message="not refunded"),)
    assert contract.yields == (Yield(type="crm.id", path="/a/*/id"),)
    assert contract.definition == {"name": "refund_payment", "inputSchema": {"type": "object"}}


def test_provenance_is_read_into_sources() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    assert contract.provenance == (
        ProvenanceRule(
            pointer="/customer_id",
            sources=(
                Source(kind=SourceKind.RESULTS, operands=("crm.customer_id",)),
                Source(kind=SourceKind.ALLOWLIST, operands=("a", "b")),
                Source(kind=SourceKind.ACTOR, operands=("tenant",)),
            ),
            on_fail=OnFail.APPROVE,
            same_record_as="/invoice_id",
        ),
        ProvenanceRule(
            pointer="/amount",
            sources=(
                Source(kind=SourceKind.RESULTS, operands=("a.total",), within_run=True),
                Source(kind=SourceKind.COLLECTED, operands=("amount",)),
                Source(
                    kind=SourceKind.COMPUTED,
                    operands=("0..100",),
                    bounds=(Decimal(0), Decimal(100)),
                ),
            ),
            on_fail=OnFail.DENY,
            same_record_as="/customer_id",
            max_of=True,
            trust_min=SourceTrust.SYSTEM,
        ),
    )


def test_promises_are_read_into_what_steps_work_with() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    assert contract.idempotency == Idempotency(
        intent=("/customer_id", "/amount"),
        not_executed_on=("rate_limited",),
        is_declared=True,
    )
    assert contract.readback == Readback(
        call=CallTemplate(tool="billing.get", args={"id": "$result.id"}), expect="result.ok"
    )
    assert contract.compensation == Compensation(
        kind=CompensationClass.COMPENSATABLE,
        call=CallTemplate(tool="billing.cancel_refund", args={"refund_id": "$result.refund_id"}),
    )


def test_a_file_is_written_and_read_without_loss() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    (again,) = files.load(files.dump([contract]), file="d.yaml")
    assert replace(again, place="") == replace(contract, place="")


AUDIT = "    audit: {level: metadata, seal: true}\n"
AUDITED = TEXT.replace("    definition:", f"{AUDIT}    definition:")


def test_what_the_log_keeps_is_read_and_written_back() -> None:
    (contract,) = files.load(TEXT, file="c.yaml")
    assert contract.audit == Audit(level=None, seal=False)
    assert "audit" not in files.dump([contract])
    (contract,) = files.load(AUDITED, file="c.yaml")
    assert contract.audit == Audit(level=Level.METADATA, seal=True)
    (again,) = files.load(files.dump([contract]), file="d.yaml")
    assert again.audit == contract.audit
    with pytest.raises(FileError, match=r"c\.yaml:31:20: .*level"):
        files.load(AUDITED.replace("metadata", "none"), file="c.yaml")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (PIN, PIN[:-1] + ("0" if PIN[-1] != "0" else "1"),
         "c.yaml:5:5: pin does not match the definition; review the tool and pin it again with"),
        ("{name: refund_payment", "{name: other",
         "c.yaml:31:5: the definition of `billing.refund_payment` names another tool"),
        ("  billing.refund_payment:", "  refund_payment:",
         "c.yaml:4:3: `refund_payment` has to be `server.name`"),
        ("risk: critical, ", "", "c.yaml:11:17: names neither `risk` nor `effect`"),
        ("    effect: write", "    efect: write",
         "c.yaml:6:5: unknown key `efect`; did you mean `effect`?"),
        ("/iban: secret", "iban: secret", "c.yaml:9:23: `tools.billing.refund_payment.sensitive"),
        ("timeout: 30s", "timeout: 30", "should be a time with its unit, such as `30s`"),
        ("name: refund_payment, inputSchema", 'name: refund_payment, "\\ud800": 1, inputSchema',
         "c.yaml"),
    ],
)  # fmt: skip
def test_a_fault_has_its_place_and_the_mend(old: str, new: str, message: str) -> None:
    with pytest.raises(FileError) as refused:
        files.load(TEXT.replace(old, new), file="c.yaml")
    assert message in str(refused.value)


def test_all_faults_of_a_file_come_at_once() -> None:
    with pytest.raises(FilesError) as refused:
        files.load(
            TEXT.replace("{name: refund_payment", "{name: other").replace("risk: critical, ", ""),
            file="c.yaml",
        )
    assert [fault.line for fault in refused.value.errors] == [5, 11, 31]


def test_a_description_changed_by_hand_breaks_the_pin() -> None:
    changed = TEXT.replace("{name: refund_payment,", "{name: refund_payment, description: x,")
    with pytest.raises(FileError, match="pin does not match the definition"):
        files.load(changed, file="c.yaml")


def test_the_promises_of_the_reference_page_are_read_and_written_back() -> None:
    page = Path(__file__).parents[2] / "docs/reference/contracts.md"
    found = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    _, *blocks, irreversible, approval = found
    for sections in ("".join((*blocks, approval)), irreversible):
        text = TEXT[: TEXT.index("    idempotency:")] + textwrap.indent(sections, "    ")
        text += TEXT[TEXT.index("    definition:") :]
        (contract,) = files.load(text, file="c.yaml")
        assert contract.compensation is not None
        assert (contract.approval.confirm == "/amount") is (sections != irreversible)
        (again,) = files.load(files.dump([contract]), file="d.yaml")
        assert replace(again, place="") == replace(contract, place="")
