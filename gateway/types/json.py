"""JSON as Python values."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypeAlias, Union

# A number that a float can't carry is a Decimal; it appears only in values read from downstreams.
# `Union`, since a recursive alias in quotes could not take part in `X | None` at run time.
Json: TypeAlias = Union[  # noqa: UP007 - see above
    dict[str, "Json"], list["Json"], str, int, float, Decimal, bool, None
]
JsonObject: TypeAlias = dict[str, Json]
JsonMapping: TypeAlias = Mapping[str, Json]
# RFC 6901, such as `/items/0/id`; in contracts and policies `*` stands for any key or index.
JsonPointer: TypeAlias = str
