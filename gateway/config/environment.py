"""The only reader of the environment."""

import os
from collections.abc import Mapping
from types import MappingProxyType


def environ() -> Mapping[str, str]:
    """Return the environment of this process as it is now; it can't be changed through this."""
    return MappingProxyType(dict(os.environ))  # noqa: TID251 - this is the one place
