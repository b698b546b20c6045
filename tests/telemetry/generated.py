"""Generated finished calls, of every kind and end."""

from hypothesis import strategies as st

from gateway.types.calls import Method
from gateway.types.decisions import Decision, DecisionEffect, ShadowDecision
from gateway.types.observed import Observed, Would
from gateway.types.operations import Execution
from gateway.types.outcomes import Status
from gateway.types.records import CallRecord
from gateway.types.tools import Effect, Kind, Risk
from tests.telemetry.builders import a_call, a_context, a_record, a_tool, an_actor

hex_of = {size: st.binary(min_size=size, max_size=size).filter(any) for size in (8, 16)}
trace_ids = hex_of[16].map(bytes.hex)
span_ids = hex_of[8].map(bytes.hex)
words = st.one_of(st.sampled_from(["", "a", "crm", "é" * 30]), st.text(max_size=60))
times = st.integers(min_value=0, max_value=2**63 - 1)
states = st.sampled_from(["", "vendor=1", "a=1,b=2", "a=1,a=2", "k@s=x"])
contexts = st.builds(
    a_context, trace_id=trace_ids, span_id=span_ids, sampled=st.booleans(), state=states
)


def decisions() -> st.SearchStrategy[Decision]:
    shadow = st.builds(
        ShadowDecision, effect=st.sampled_from(DecisionEffect), rule=words, code=words
    )
    return st.builds(
        Decision,
        effect=st.sampled_from(DecisionEffect),
        rule=words,
        code=words,
        revision=words,
        shadow=st.lists(shadow, max_size=2).map(tuple),
    )


def records() -> st.SearchStrategy[CallRecord]:
    """Finished calls of every kind and end."""
    calls = st.builds(
        a_call,
        call_id=words,
        request_id=words,
        method=st.sampled_from(Method),
        peer=st.one_of(words, st.sampled_from(["[::1]:80", "host:8080", "::1"])),
        cause=st.sampled_from(["", "lookup"]),
    )
    tools = st.builds(
        a_tool, name=words, exposed_name=words, server=words, kind=st.sampled_from(Kind), pin=words
    )
    observed = st.builds(Observed, would=st.sampled_from(Would), code=words, status=words)
    return st.builds(
        a_record,
        call=calls,
        parent=st.none() | contexts,
        link=st.none() | contexts,
        asked_by=st.sampled_from(["", f"00-{'1' * 32}-{'2' * 16}-01"]),
        trace_id=trace_ids,
        judged_ns=st.just(0) | times,
        sent_ns=st.just(0) | times,
        answered_ns=st.just(0) | times,
        tool=st.none() | tools,
        resource=words,
        actor=st.none() | st.builds(an_actor, tenant=words, roles=st.frozensets(words, max_size=3)),
        run_id=words,
        approval_id=words,
        phase=words,
        effect=st.none() | st.sampled_from(Effect),
        risk=st.none() | st.sampled_from(Risk),
        decision=st.none() | decisions(),
        status=st.sampled_from(Status),
        code=words,
        executed=st.sampled_from(Execution),
        error_code=st.none() | st.integers(min_value=-(2**63), max_value=2**63 - 1),
        tool_error=st.booleans(),
        downstream_transport=st.sampled_from(["", "http", "stdio"]),
        downstream_address=words,
        downstream_version=words,
        arguments_digest=words,
        result_size=st.integers(min_value=0, max_value=2**40),
        redactions=st.integers(min_value=0, max_value=300),
        observed=st.none() | observed,
    )
