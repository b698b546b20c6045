"""Secrets of a server in texts about it."""

from gateway.servers.masking import masked, masker
from gateway.types.operations import Delivered, Execution, Failure, Rejected, Undelivered


def test_own_secrets_go_first_and_the_general_mask_sees_the_rest() -> None:
    mask = masker(("Bearer abcdef", "abcdef"), lambda text: text.replace("general", "***"))
    assert mask("Bearer abcdef, abcdef, general") == "[secret], [secret], ***"


def test_failures_are_masked_and_kept_short() -> None:
    mask = masker(("secret",), str)
    end = Undelivered(failure=Failure.CLOSED, executed=Execution.NO, detail="secret " + "x" * 5000)
    got = masked(end, mask)
    assert isinstance(got, Undelivered)
    assert got.detail.startswith("[secret]")
    assert len(got.detail) == 1001


def test_the_data_of_an_error_is_masked_throughout() -> None:
    error = Rejected(code=1, message="secret", data={"secret": ["secret", 1, None]})
    got = masked(error, masker(("secret",), str))
    assert isinstance(got, Rejected)
    assert (got.message, got.data) == ("[secret]", {"[secret]": ["[secret]", 1, None]})


def test_a_servers_own_error_is_not_shortened() -> None:
    error = Rejected(code=1, message="x" * 5000)
    assert masked(error, masker(("secret",), str)) == error


def test_a_result_passes_as_it_is() -> None:
    delivered = Delivered(result={"a": "secret"}, size=1)
    assert masked(delivered, masker(("secret",), str)) is delivered
