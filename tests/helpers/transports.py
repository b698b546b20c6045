"""Transports that nobody is behind."""

import asyncio


class Wire(asyncio.Transport):
    """A connection that takes whatever is written."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = True
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def is_closing(self) -> bool:
        return not self.is_open

    def close(self) -> None:
        self.is_open = False

    def pause_reading(self) -> None:
        """There is nothing to read."""

    def resume_reading(self) -> None:
        """Neither now."""
