from gateway.identity.challenge import Challenge


def test_text_in_a_challenge_can_not_end_its_quotes_or_its_header() -> None:
    answer = Challenge(
        status=401,
        error="invalid_token",
        description='a "b" \\ c\r\nX-Evil: 1',
        resource_metadata="https://h.example/x",
    )
    assert answer.www_authenticate() == (
        'Bearer error="invalid_token", error_description="a b  cX-Evil: 1", '
        'resource_metadata="https://h.example/x"'
    )
