from dataclasses import replace
from pathlib import Path

import anyio

from gateway.app.operating import Around, operating
from gateway.app.owner import ProcessOwner
from gateway.clock import SystemClock
from gateway.config.settings import OperationsSettings
from gateway.events.redact import Redactor
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.guarantees import OF_RUN, Idempotency
from gateway.types.outcomes import Status
from gateway.types.tools import Sensitivity
from tests.helpers.cases import a_call, a_case, a_contract, a_revision
from tests.helpers.databases import ORIGIN
from tests.helpers.people import some_people
from tests.helpers.pipelines import Log, a_pipeline
from tests.helpers.shelves import Law, Shelf


async def test_the_parts_share_one_store_and_follow_its_settings(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/store.db", origin=ORIGIN)
    record = a_pipeline(Shelf(()), Law(a_revision()), None, Log()).record
    settings = OperationsSettings.model_validate(
        {"window": "2h", "assumed_window": "3m", "lease": "7s", "late_window": "9s"}
    )
    async with anyio.create_task_group() as tasks:
        around = Around(
            owner=ProcessOwner(tasks),
            clock=SystemClock(),
            redactor=Redactor(lambda tenant: tenant.encode()),
            record=record,
            tool=lambda key: None,
            case_for=lambda call, tool: None,
            patience_s=lambda case: 1.0,
            people=some_people(Vault(store.keys.operations)),
            today=lambda principal: principal,
            leaving=lambda case, outcome: outcome,
        )
        parts = operating(store, settings, around)
        assert parts.claim.terms.lease_s == 7
        assert parts.patience.window_s == 9
        pipeline = a_pipeline(Shelf(()), Law(a_revision()), None, Log())
        sweeper = parts.sweeper(pipeline)
        assert (sweeper.lease_s, sweeper.keep_s) == (7, 90 * 86400)
        assumed, said = (
            a_case(),
            a_case(contract=a_contract(idempotency=Idempotency(is_declared=True))),
        )
        keyed = a_case(call=a_call(meta={"weighbridge/idempotencyKey": "k"}))
        own = a_case(contract=a_contract(idempotency=Idempotency(window_s=5.0)))
        windows = [parts.operate.window_s(case) for case in (assumed, said, keyed, own)]
        assert windows == [180, 7200, 7200, 5]
        of_run = a_contract(idempotency=Idempotency(window_s=OF_RUN, is_declared=True))
        named, led_to, alone = (
            replace(a_case(contract=of_run), within=within)
            for within in (("run", "run_1"), ("conversation", "c1"), ())
        )
        windows = [parts.operate.window_s(case) for case in (named, led_to, alone)]
        assert windows == [90 * 86400, 7200, 7200]
        secret = a_contract(sensitive={"/pin": Sensitivity.SECRET})
        shown = parts.claim.shown(a_case(arguments={"pin": "MARK1"}, contract=secret))
        assert "MARK1" not in shown
        assert parts.operate.fault(a_case(), ValueError("x")).status is Status.INTERNAL
    store.close()
