"""Faults: things that went wrong on our side. Refusals are values, see `types.outcomes`."""

from collections.abc import Sequence
from typing import cast

from gateway.types.json import Json, JsonPointer


class WeighbridgeError(Exception):
    """A fault with one line that a person can act on."""


class FileError(WeighbridgeError):
    """A file that people write can't be used; names the place and the mend."""

    def __init__(self, message: str, *, file: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}"


class FilesError(FileError):
    """Several faults of files that people write; stands at the place of the first."""

    def __init__(self, errors: Sequence[FileError]) -> None:
        first = errors[0]
        super().__init__(first.message, file=first.file, line=first.line, column=first.column)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


class JsonError(WeighbridgeError):
    """A text isn't the strict JSON that we accept; `pointer` says where (RFC 6901)."""

    def __init__(self, message: str, *, pointer: JsonPointer = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.message} at `{self.pointer}`" if self.pointer else self.message


class SchemaError(WeighbridgeError):
    """A JSON Schema can't be used; `pointer` is the place inside the schema."""

    def __init__(self, message: str, *, pointer: JsonPointer = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer


class StoreUnavailable(WeighbridgeError):
    """The store can't keep what it was given; nothing of it was kept."""


class StatementRefused(StoreUnavailable):
    """The database works, and will never take this; nothing of it was kept."""


class LogChanged(WeighbridgeError):
    """The event log isn't what its last checkpoint says; no other one is signed on top."""


class ConfigurationError(WeighbridgeError):
    """The gateway refuses to start as it is configured."""


class BadCursor(WeighbridgeError):
    """A `tools/list` cursor that this gateway did not hand out (JSON-RPC -32602)."""


class AskRefused(WeighbridgeError):
    """A question to a client has no answer; code, message and data are those of JSON-RPC."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class AskUnanswered(AskRefused):
    """Nobody answered a question in time."""


class AskFailed(AskRefused):
    """A client answered a question with an error; its words are for the server that asked."""

    @property
    def summary(self) -> str:
        """What may be told to anybody else."""
        return f"the client answered with error {self.code}"


def first_cause(error: BaseException) -> BaseException:
    """Return the first single error inside a group."""
    while isinstance(error, BaseExceptionGroup):
        # isinstance can't tell what is in the group
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
