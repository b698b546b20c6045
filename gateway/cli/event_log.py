"""`weighbridge events`: the commands about the event log; `gateway.cli.events` reads it."""

from collections.abc import Mapping

import click

from gateway.cli.late import LateGroup

TABLE: Mapping[str, tuple[str, str]] = {
    "query": ("gateway.cli.events:query", "find events by what they say"),
    "tail": ("gateway.cli.events:tail", "follow the log, until interrupted"),
    "ask": ("gateway.cli.ask", "answer a question of auditors; alone, list them"),
    "verify": ("gateway.cli.verify", "check every event against every checkpoint"),
    "prove": ("gateway.cli.prove", "prove that an event is in the log, or that it only grew"),
    "export": ("gateway.cli.export", "write events for others, with proofs or in their forms"),
    "archive": ("gateway.cli.archive", "have the oldest events leave the log in a sealed file"),
    "hold": ("gateway.cli.holds", "keep events of a tenant or a run from being archived"),
    "keys": ("gateway.cli.log_keys", "the key that signs checkpoints, and the one that seals"),
    "unseal": ("gateway.cli.unseal", "print the arguments of a call as they were"),
    "shred": ("gateway.cli.shred", "destroy sealed arguments and their keys for good"),
}


@click.group("events", cls=LateGroup, table=TABLE)
def command() -> None:
    """Read the event log: who called what, how it was decided, how it ended; and prove it."""
