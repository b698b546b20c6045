import base64

from gateway.approvals.signing import signed


def test_the_signature_is_that_of_the_example_in_standard_webhooks() -> None:
    headers = signed(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_whatever_is_changed_needs_another_signature() -> None:
    calls = [("a", 1, b"x"), ("b", 1, b"x"), ("a", 2, b"x"), ("a", 1, b"y")]
    made = {signed(*call, b"k" * 32)["webhook-signature"] for call in calls}
    assert len(made) == len(calls)


def test_without_a_key_nothing_is_signed() -> None:
    assert signed("a", 1, b"x", b"") == {}
