"""One request over HTTP; its attempts are shown in test_http."""

from gateway.servers.sending import Sending
from gateway.types.operations import Execution


def test_what_was_never_sent_was_not_carried_out() -> None:
    call = Sending(method="tools/call", params={})
    assert call.executed is Execution.NO
    call.number = 1
    assert call.executed is Execution.UNKNOWN
