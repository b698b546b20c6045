import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.app.agreeing import Agreeing, activation_of, agreement
from gateway.app.keeping import Keeping
from gateway.clock import SystemClock
from gateway.config.settings import Settings
from gateway.errors import StoreUnavailable
from gateway.store.store import Store

SHARED = {
    "activation": {"people": 2},
    "admin": {"accounts": [{"user": each, "tenant": "acme"} for each in ("ann", "bo")]},
}


def test_one_person_needs_no_agreement(store: Store) -> None:
    assert agreement(store, Settings(), SystemClock()) is None
    made = activation_of(
        Settings(), Keeping(store=store), SystemClock(), lambda outcome, because: None
    )
    assert made.agreement is None


async def test_several_go_by_the_store(store: Store) -> None:
    made = agreement(store, Settings.model_validate(SHARED), SystemClock())
    assert made is not None
    assert made.people == 2
    assert await made.agreed() is None
    assert await made.waiting() == []


@dataclass
class Looks:
    """An activation whose store comes and goes."""

    faults: list[Exception | None]
    seen: asyncio.Event = field(default_factory=asyncio.Event)

    async def follow(self) -> None:
        fault = self.faults.pop(0)
        if not self.faults:
            self.seen.set()
            await asyncio.Event().wait()
        if fault is not None:
            raise fault


async def test_the_look_outlives_whatever_goes_wrong(caplog: pytest.LogCaptureFixture) -> None:
    looks: Any = Looks([StoreUnavailable("no route"), RuntimeError("bad"), None, None])
    with caplog.at_level(logging.DEBUG):
        async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(Agreeing(activation=looks, every_s=0.001).run())
            await looks.seen.wait()
            task.cancel()
    assert "could not be seen: no route" in caplog.text
    assert "what people agreed on could not be put in force" in caplog.text
