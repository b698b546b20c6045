"""The short way of a request, as tests need it."""


class Door:
    """A short way that takes an answer, or does not; it never has the body."""

    is_left = False

    def __init__(self, *, is_open: bool) -> None:
        self.answers: list[bytes] = []
        self._is_open = is_open

    def take(self) -> bytes | None:
        """There is no body here."""
        return None

    def answer(self, body: bytes) -> bool:
        """Keep an answer, if it is open."""
        if self._is_open:
            self.answers.append(body)
        return self._is_open
