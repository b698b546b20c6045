"""How the command ends when a person or the next program has enough of it."""

import errno
import os
import sys
from typing import Any, Final, NoReturn

import click

from gateway.cli.late import LateGroup
from gateway.errors import first_cause

EXIT_INTERRUPTED: Final = 130  # 128 and the number of SIGINT, as shells report it
EXIT_UNREAD: Final = 141  # the same of SIGPIPE


class Program(LateGroup):
    """The whole command: it ends quietly when it is interrupted, or when nobody reads on."""

    def invoke(self, ctx: click.Context) -> Any:
        """Carry a command out."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            _interrupted()
        except OSError as error:
            if error.errno != errno.EPIPE:
                raise
            _unread()
        except BaseExceptionGroup as errors:  # out of tasks that ran at the same time
            cause = first_cause(errors)
            if isinstance(cause, KeyboardInterrupt):
                _interrupted()
            if isinstance(cause, BrokenPipeError):
                _unread()
            raise


def _interrupted() -> NoReturn:
    click.echo("weighbridge: interrupted", err=True)
    sys.exit(EXIT_INTERRUPTED)


def _unread() -> NoReturn:
    # Whatever is still to be written would fail again, at the very end and with a message.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(EXIT_UNREAD)
