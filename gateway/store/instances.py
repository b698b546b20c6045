"""The state of each running gateway, written often, so that `weighbridge status` needs no port."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway import jsontext
from gateway.clock import Clock
from gateway.store.engine import Row, Transaction
from gateway.store.times import microseconds, moment
from gateway.store.worker import Worker
from gateway.types.json import JsonObject

_FORGOTTEN: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceStatus:
    """What one gateway said of itself, and when."""

    instance: str
    at: datetime  # UTC
    status: JsonObject


class Instances:
    """The latest snapshot of every gateway."""

    def __init__(self, worker: Worker, clock: Clock) -> None:
        self._worker = worker
        self._clock = clock

    async def save(self, instance: str, status: JsonObject) -> None:
        """Replace what is known of one gateway; those silent for a day are forgotten."""
        now = self._clock.now()
        text = jsontext.dump(status).decode()

        def write(transaction: Transaction) -> None:
            transaction.execute(
                "save_instance", {"instance": instance, "at": microseconds(now), "status": text}
            )
            transaction.execute("forget_instances", {"before": microseconds(now - _FORGOTTEN)})

        await self._worker.write(write, durable=False)

    async def forget(self, instance: str) -> None:
        """Remove a gateway that stopped in order."""
        await self._worker.write(
            lambda transaction: transaction.execute("forget_instance", {"instance": instance}),
            durable=False,
        )

    async def all(self) -> list[InstanceStatus]:
        """Return the latest of every gateway, newest first."""

        def read(transaction: Transaction) -> list[InstanceStatus]:
            return [_status(row) for row in transaction.fetch("list_instances", {})]

        return await self._worker.read(read)


def _status(row: Row) -> InstanceStatus:
    status = jsontext.parse_result(row.text("status").encode())
    return InstanceStatus(
        instance=row.text("instance"),
        at=moment(row.integer("at")),
        status=status if isinstance(status, dict) else {},
    )
