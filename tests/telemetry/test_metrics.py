from gateway.telemetry.metrics import METRICS, Name
from tests.telemetry.reference import rows


def test_every_name_has_a_row() -> None:
    assert set(METRICS) == set(Name)


def test_no_metric_is_labelled_with_a_tenant_user_run_or_call() -> None:
    """case: OBS-07"""
    labels = {label for row in METRICS.values() for label in row.labels}
    assert {label for label in labels if label.endswith(".id")} == {
        "gateway.policy.rule.id",
        "gateway.shadow.rule.id",
    }
    assert not [label for label in labels if label.startswith("user.")]


def test_the_reference_names_every_metric() -> None:
    assert rows("Metrics") == {
        (
            f"`{name}`",
            row.kind.value,
            f"`{row.unit}`",
            ", ".join(f"`{label}`" for label in row.labels) or "–",
            row.meaning,
        )
        for name, row in METRICS.items()
    }
