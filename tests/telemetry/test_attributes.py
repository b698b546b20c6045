from gateway.telemetry.attributes import SPAN_ATTRIBUTES
from tests.telemetry.reference import rows


def test_the_reference_names_every_attribute() -> None:
    assert rows("Span attributes") == {
        (f"`{key}`", row.on, row.meaning) for key, row in SPAN_ATTRIBUTES.items()
    }
