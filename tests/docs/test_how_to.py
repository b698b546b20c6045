"""What how-tos say about other programs is read by what the gateway reads it with."""

import base64
import subprocess
from pathlib import Path

import pytest

from gateway import jsontext
from gateway.config.load import load
from gateway.identity.claims import principal
from gateway.telemetry import environment
from gateway.types.json import JsonObject
from tests.docs import pages
from tests.docs.pages import Block

HOW_TO = pages.DOCS / "how-to"
PROVIDERS = pages.page(HOW_TO / "identity-providers.md").blocks
NAMES = [block.about for block in PROVIDERS if block.note == "token"]
BACKENDS = [
    block
    for block in pages.page(HOW_TO / "telemetry-backends.md").blocks
    if block.language == "sh" and "weighbridge serve" in block.text
]


def shown(note: str, name: str) -> str:
    (text,) = [block.text for block in PROVIDERS if (block.note, block.about) == (note, name)]
    return text


@pytest.mark.parametrize("name", NAMES)
def test_the_token_of_a_provider_is_read_with_its_configuration(name: str, tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    path = tmp_path / "config.yaml"
    path.write_text(f"{shown('reads', name)}\nservers: {{}}\n")
    (entry,) = load(path, {}).settings.identity.jwt
    token = jsontext.parse(shown("token", name))
    assert isinstance(token, dict)
    audience = token["aud"] if isinstance(token["aud"], list) else [token["aud"]]
    assert token["iss"] == entry.issuer
    assert set(entry.audience) & {str(each) for each in audience}
    found = principal(token, entry)
    assert found.tenant in entry.speaks_for
    assert "support" in found.roles
    assert found.scopes & {"payments:write", "payments.write"}
    assert found.client == client_of(token)
    assert found.user


def client_of(token: JsonObject) -> str:
    return str(token.get("client_id") or token.get("cid") or token.get("azp"))


def test_every_provider_that_the_index_names_has_its_part() -> None:
    assert NAMES == ["keycloak", "entra", "auth0", "okta", "oidc-provider"]


@pytest.mark.parametrize("block", BACKENDS, ids=[block.place for block in BACKENDS])
def test_the_variables_of_a_back_end_are_understood(block: Block) -> None:
    script = f"weighbridge() {{ env -0; }}\n{block.text}"
    keys = ["LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "GRAFANA_INSTANCE", "GRAFANA_TOKEN"]
    given = {"PATH": "/usr/bin:/bin", "OTLP_KEY": "k-1", **{key: f"{key}>?" for key in keys}}
    done = subprocess.run(["bash", "-euc", script], env=given, capture_output=True, check=True)
    lines = done.stdout.decode().split("\0")
    found = environment.read(dict(line.split("=", 1) for line in lines if "=" in line))
    assert found.warnings == ()
    assert found.traces.destination is not None
    assert found.traces.destination.endpoint.endswith("/v1/traces")
    basic = found.traces.destination.headers.get("Authorization")
    if basic is not None:
        assert base64.b64decode(basic.removeprefix("Basic ")).decode().count(">?") == 2


def test_every_back_end_has_its_block() -> None:
    assert len(BACKENDS) == 5
