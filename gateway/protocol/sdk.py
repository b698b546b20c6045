"""The SDK, imported where and when it is first needed, by one thread at a time.

Its package imports all of itself. A thread that asks for one of its modules meanwhile holds that
module's lock and waits for the package, which comes to that very module and waits for the thread:
Python sees it, and has one of the two fail.
"""

import importlib
import threading
from types import ModuleType
from typing import Final

_ONE_AT_A_TIME: Final = threading.Lock()


def load(module: str) -> ModuleType:
    """Return a module of the SDK, or one of ours that imports the SDK."""
    with _ONE_AT_A_TIME:
        return importlib.import_module(module)
