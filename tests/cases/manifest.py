"""Every public case by id: what must hold, where it was met, and what is left to later work.

The sources are public reports of the same fault elsewhere. A case that is left names the reason;
all others are shown by at least one test whose docstring cites the id, as in `case: OUT-04`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.cases import keeping, protocol
from tests.cases.case import Case

CASES: Final[Mapping[str, Case]] = MappingProxyType({**protocol.CASES, **keeping.CASES})
