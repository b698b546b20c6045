"""Plain scalars by the core schema of YAML 1.2."""

import pytest

from gateway.types.json import Json
from gateway.yamltext.scalars import resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("NULL", None), ("true", True), ("False", False),
        ("no", "no"), ("NO", "NO"), ("yes", "yes"), ("on", "on"), ("nul", "nul"),
        ("0", 0), ("-12", -12), ("+3", 3), ("0x1F", 31), ("0o17", 15),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("-1e3", -1000.0),
        ("2026-01-01", "2026-01-01"), ("1:30", "1:30"), ("1_000", "1_000"),
        ("-", "-"), ("1.2.3", "1.2.3"), ("0x", "0x"), (".env", ".env"), ("٣", "٣"),
    ],
)  # fmt: skip
def test_a_plain_scalar_has_its_1_2_meaning(text: str, value: Json) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["012", "-007", ".inf", "-.INF", ".nan", "1e999", "1" * 1001])
def test_a_scalar_that_readers_disagree_on_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="number"):
        resolve(text)
