import re
from pathlib import Path

from gateway import yamltext
from gateway.config.load import load
from gateway.config.reference import every_row, render, write
from gateway.types.json import Json

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "config.md"
EXAMPLE = ROOT / "config.example.yaml"
BY_COMMENT = {
    "admin.oidc.tenant",  # one of two ways, and the example goes the other
    "env_file",  # has to be there
}
LISTS = {"accounts", "api_keys", "auditors", "jwt", "to", "webhooks"}


# What needs a secret of who runs it: the example starts without, and these lines are comments.
SECRETS = re.compile(
    r"^( *)# ( *(?:- )?(?:client_secret|url|secret|webhooks|name|format|tenants|stages):.*)$",
    re.MULTILINE,
)


def with_secrets() -> str:
    """The example as it is once all of them are set."""
    text, count = SECRETS.subn(r"\1\2", EXAMPLE.read_text(encoding="utf-8"))
    assert count == 10
    return text


def keys_of(value: Json, prefix: str = "") -> list[str]:
    """Every key of a file, in the notation of the reference."""
    found: list[str] = []
    for key, item in value.items() if isinstance(value, dict) else ():
        path = f"{prefix}{key}"
        if key in {"env", "headers", "clients"}:
            found.append(path)
        elif key == "servers" and not prefix and isinstance(item, dict):
            found.append(f"{path}.<name>")
            for entry in item.values():
                found += keys_of(entry, f"{path}.<name>.")
        elif isinstance(item, list) and key in LISTS:
            found.append(f"{path}[]")
            for entry in item:
                found += keys_of(entry, f"{path}[].")
        else:
            found += [path, *keys_of(item, f"{path}.")]
    return found


def test_the_reference_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run scripts/fix"


def test_the_page_is_written_only_when_it_changes(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "config.md"
    assert write(page)
    assert not write(page)
    assert page.read_text(encoding="utf-8") == render()


def test_every_key_says_what_it_means() -> None:
    assert all(row.description for row in every_row())


def test_the_example_shows_every_key_and_no_other() -> None:
    document = yamltext.load(with_secrets(), file="config.example.yaml")
    shown = keys_of(document.value)
    known = {row.path for row in every_row()}
    assert set(shown) == known - BY_COMMENT
    # An issuer has one of two places for its keys, so two issuers share these.
    twice = {path for path in shown if shown.count(path) > 1}
    assert twice == {"identity.jwt[].issuer", "identity.jwt[].audience"}


def test_the_example_starts_as_it_is() -> None:
    assert set(load(EXAMPLE, {}).settings.servers) == {"billing", "crm"}


def test_the_example_loads_without_a_warning(tmp_path: Path) -> None:
    environ = {
        "BILLING_TOKEN": "billing-token",
        "CRM_TOKEN": "crm-token-value",
        "OIDC_SECRET": "oidc-secret-value",
        "APPROVALS_WEBHOOK_SECRET": f"whsec_{'a' * 40}",
        "CHECKPOINTS_WEBHOOK_SECRET": f"whsec_{'b' * 40}",
    }
    whole = tmp_path / EXAMPLE.name
    whole.write_text(with_secrets())
    assert load(whole, environ).warnings == ()
    loaded = load(EXAMPLE, environ)
    assert loaded.warnings == ()
    assert set(loaded.settings.servers) == {"billing", "crm"}
    assert loaded.settings.policies == ROOT / "policies"
