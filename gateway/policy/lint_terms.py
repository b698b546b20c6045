"""What contracts promise, held against what the configuration says of times, servers and keys."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gateway.policy.findings import Finding, Level
from gateway.policy.lint_tools import about
from gateway.types.guarantees import OF_RUN, InjectPlace
from gateway.types.tools import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the configuration says of operations, servers and people; times in seconds."""

    keep_s: float  # how long ended operations are kept
    late_window_s: float  # how long an answer is taken after its caller has gone
    timeout_s: float
    timeouts_s: Mapping[str, float] = field(default_factory=dict[str, float])  # by server
    over_stdio: frozenset[str] = frozenset()  # servers
    roles: frozenset[str] = frozenset()  # of accounts, keys and whoever acts locally
    are_all_roles: bool = False  # no provider knows others
    can_seal: bool = True  # there is a place for the key of sealed copies


def check(contracts: Iterable[Contract], terms: Terms) -> Iterator[Finding]:
    """Run every check of this module."""
    for contract in contracts:
        yield from _kept(contract, terms)
        yield from _placed(contract, terms)
        yield from _looked_up(contract, terms)
        yield from _sealed(contract, terms)


def _kept(contract: Contract, terms: Terms) -> Iterator[Finding]:
    window_s = contract.idempotency.window_s
    if window_s is not None and terms.keep_s < window_s < OF_RUN:
        yield about(
            contract,
            "kept-longer",
            f"`idempotency.window` of `{contract.tool}` is longer than `operations.keep`; its "
            f"operations are kept for {_days(window_s)} instead of {_days(terms.keep_s)}",
        )


def _placed(contract: Contract, terms: Terms) -> Iterator[Finding]:
    injection, server = contract.idempotency.inject, contract.tool.partition(".")[0]
    if injection is None or injection.place is not InjectPlace.HEADER:
        return
    if server in terms.over_stdio:
        yield about(
            contract,
            "unplaced-key",
            f"`idempotency.inject` of `{contract.tool}` is a header, and `{server}` is spoken with "
            "over stdio, which has none; use `arg` or `meta`",
            Level.ERROR,
        )


def _looked_up(contract: Contract, terms: Terms) -> Iterator[Finding]:
    lookup, server = contract.idempotency.lookup, contract.tool.partition(".")[0]
    if lookup is None:
        return
    absent_s = lookup.absent_after_s
    timeout_s = contract.timeout_s or terms.timeouts_s.get(server, terms.timeout_s)
    longest_s = timeout_s + terms.late_window_s
    if absent_s >= longest_s:
        return
    is_in_time = absent_s < timeout_s
    until = "a call may take" if is_in_time else "an answer is taken (`operations.late_window`)"
    yield about(
        contract,
        "absent-early",
        f"`idempotency.lookup.absent_after` of `{contract.tool}` is {absent_s:g} s, less than the "
        f"{timeout_s if is_in_time else longest_s:g} s that {until}; once its gateway has died, a "
        "request that is still under way at the server would be sent again",
        Level.WARNING if is_in_time else Level.INFO,
    )


def _sealed(contract: Contract, terms: Terms) -> Iterator[Finding]:
    if contract.audit.seal and not terms.can_seal:
        yield about(
            contract,
            "seal-without-key",
            f"`audit.seal` of `{contract.tool}` needs a key, and `events.sealing.key` names none; "
            "make one with `weighbridge events keys seal`",
            Level.ERROR,
        )


def _days(seconds: float) -> str:
    return f"{seconds / 86400:g} days"
