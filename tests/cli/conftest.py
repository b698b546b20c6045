"""Commands set up logging, signals and the collector of their process; here that is pytest's."""

import gc
import logging
import signal
import sys
from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Give the process back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in root.manager.loggerDict}
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    signals = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)}
    with patch.object(gc, "freeze"):  # it can't be taken back for what one command has frozen
        yield
    root.handlers[:], root.level = handlers, level
    for name, own in levels.items():
        logging.getLogger(name).setLevel(own)
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    for number, handler in signals.items():
        signal.signal(number, handler)
