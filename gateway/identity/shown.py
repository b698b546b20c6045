"""What a credential that is shown again is recognised by.

By itself, so that whoever speaks of it need not import what verifies tokens.
"""

from dataclasses import dataclass

from gateway.identity.apikeys import Hashed


@dataclass(slots=True)
class Shown:
    """A credential that is shown again and again, as far as that opens nothing: its hash."""

    header: bytes | None = None  # that it was found in; None: none was yet
    by: Hashed | bytes = b""
