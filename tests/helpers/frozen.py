"""What is there when this is imported is never looked through for garbage again.

A gateway looks through all objects once it is ready. In a forked process most of them are those of
its parent's imports: to look at them took two fifths of a start, and a copy of their memory.
"""

import gc

gc.collect()
gc.freeze()
