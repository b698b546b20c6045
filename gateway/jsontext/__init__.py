"""JSON as text: strict reading, exact numbers, canonical bytes, and pointers into values."""

from gateway.jsontext.hooks import refuse_surrogates, without_halves
from gateway.jsontext.pointers import escape, get, remove, replace, tokens, walk
from gateway.jsontext.reading import parse
from gateway.jsontext.results import parse_exactly, parse_halves, parse_result
from gateway.jsontext.writing import canonical, digest, dump

__all__ = [
    "canonical",
    "digest",
    "dump",
    "escape",
    "get",
    "parse",
    "parse_exactly",
    "parse_halves",
    "parse_result",
    "refuse_surrogates",
    "remove",
    "replace",
    "tokens",
    "walk",
    "without_halves",
]
