"""Long work on a thread beside the event loop, in pieces between which others have their turn."""

import os

if hasattr(os, "sched_yield"):

    def give_way() -> None:
        """Let whoever waits for this processor run: the loop, or a server that it waits for.

        Else they would wait for the end of a time slice, which is some three milliseconds, and a
        call takes a tenth of that.
        """
        os.sched_yield()

else:

    def give_way() -> None:
        """Do nothing: this system has no such call."""
