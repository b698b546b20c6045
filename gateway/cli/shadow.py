"""`weighbridge policy shadow`: what rules that are only watched would have done."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from gateway.actions import questions
from gateway.cli import disclosing, giving, opening, output
from gateway.cli.ledger import run
from gateway.cli.moments import earlier
from gateway.cli.options import config_option, json_option
from gateway.cli.policies import policies
from gateway.cli.progress import busy
from gateway.policy.watched import Glimpse, Watched, Watching
from gateway.store.selection import Selection
from gateway.types.decisions import DecisionEffect
from gateway.types.events import EventKind, Stage
from gateway.types.json import Json, JsonObject

_WOULD = {
    DecisionEffect.DENY: "deny",
    DecisionEffect.REQUIRE_APPROVAL: "ask people",
    DecisionEffect.ALLOW: "allow",
}
_HEADERS = ("rule", "would", "calls", "changed", "were", "users", "tools", "first", "last", "e.g.")


@click.command("shadow", epilog="Example: weighbridge policy shadow --since 7d")
@config_option
@click.option("--since", default="", help="A time in UTC (2026-11-29T09:00:00) or an age (24h).")
@click.option("--until", default="", help="As --since; this moment itself is left out.")
@click.option("--tenant", default="")
@click.option("--rule", "only", default="", help="Of one rule.")
@json_option
def command(path: Path, since: str, until: str, tenant: str, only: str, as_json: bool) -> None:
    """Count from the log what rules in shadow mode would have decided, rule by rule.

    `changed` is how many calls would have been decided another way, had the rule been enforced;
    a rule that never matched is named as well. Enforce one by removing its `mode: shadow`.
    """
    wanted = Selection(
        kinds=(EventKind.AUTHORIZATION.value,),
        stages=(Stage.DECIDED.value,),
        tenants=(tenant,) if tenant else (),
        since=earlier(since),
        until=earlier(until),
    )

    async def count() -> tuple[Watched, ...]:
        watching = Watching()
        asked: JsonObject = {"tenant": tenant, "since": since, "until": until, "rule": only}
        async with opening.opened(path) as store:
            await disclosing.told(store, "policy shadow", asked, tenant=tenant)
            await giving.note_archived(store, wanted.since)
            await giving.note_strangers(store, wanted)
            with busy(is_quiet=as_json) as bar:
                number = 0
                async for event in questions.each(store.events, wanted):
                    bar.count(number := number + 1, "calls")
                    for seen in glimpses(event.json()):
                        if only in ("", seen.rule):
                            watching.see(seen)
        return watching.all()

    found = run(count)
    silent = sorted({*_in_shadow(path, only)} - {each.rule for each in found})
    if as_json:
        output.as_json({"rules": [each.to_json() for each in found], "never": list[Json](silent)})
        return
    if found:
        output.table(_HEADERS, [_row(each) for each in found])
    for rule in silent:
        output.line(f"`{rule}` matched no call")
    if not found and not silent:
        output.line("no rule is in shadow mode, and none was")


def glimpses(event: JsonObject) -> Iterator[Glimpse]:
    """Yield what rules in shadow mode said of a call, by its `authorization` event."""
    body, actor = _object(event.get("body")), _object(event.get("actor"))
    shadow = body.get("shadow")
    for said in shadow if isinstance(shadow, list) else []:
        word = _object(said)
        yield Glimpse(
            rule=str(word.get("rule")),
            would=DecisionEffect(str(word.get("effect"))),
            code=str(word.get("code")),
            decided=DecisionEffect(str(body.get("decision"))),
            decided_by=str(body.get("rule") or ""),
            tenant=str(event.get("tenant") or ""),
            user=str(actor.get("user") or ""),
            tool=str(body.get("tool") or body.get("name") or ""),
            at=datetime.fromisoformat(str(event["ts"])),
            call=str(event.get("call") or ""),
        )


def _in_shadow(path: Path, only: str) -> Iterator[str]:
    """Yield the rules of the folder that are in shadow mode now; none of one that is broken."""
    revision = policies(path, None).built.revision
    for rule in revision.policy.rules if revision is not None else ():
        if rule.shadow and rule.effect is not None and only in ("", rule.id):
            yield rule.id


def _row(found: Watched) -> tuple[str, ...]:
    were = ", ".join(each.value for each in DecisionEffect if each in found.was)
    errors = f" ({found.errors} could not be evaluated)" if found.errors else ""
    return (
        found.rule,
        _WOULD[found.would] + errors,
        str(found.calls),
        str(found.changed),
        were or "–",
        str(len(found.users)),
        ", ".join(sorted(found.tools)),
        _moment(found.first),
        _moment(found.last),
        found.example,
    )


def _moment(at: datetime | None) -> str:
    return at.isoformat()[:19] if at is not None else "–"


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
