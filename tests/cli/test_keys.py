"""`weighbridge keys`: a key for an agent, and the entry that lets it in."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from gateway.clock import SystemClock
from gateway.config.load import load
from gateway.identity.apikeys import ADMIN_PREFIX, ApiKeys, hash_key
from tests.helpers.cases import NOW
from tests.helpers.workspaces import weighbridge

WHO = ("--user", "sam", "--tenant", "acme")


def test_a_new_key_is_let_in_by_the_entry_that_comes_with_it(tmp_path: Path) -> None:
    done = weighbridge("keys", "new", "sam-laptop", *WHO, "--json")
    assert done.exit_code == 0
    made = json.loads(done.stdout)
    assert (made.keys(), made["section"]) == ({"key", "section", "entry"}, "identity.api_keys")
    (tmp_path / "config.yaml").write_text(
        f"servers: {{}}\nidentity:\n  api_keys:\n    - {json.dumps(made['entry'])}\n"
    )
    entries = load(tmp_path / "config.yaml", {}).settings.identity.api_keys
    principal = ApiKeys(entries).principal(made["key"], now=NOW)
    assert (principal.user, principal.tenant, principal.client) == ("sam", "acme", "sam-laptop")


def test_a_person_sees_the_key_once_and_an_entry_that_holds_only_its_hash() -> None:
    done = weighbridge("keys", "new", "sam-laptop", *WHO)
    shown, where, entry = done.stdout.splitlines()
    key = shown.removeprefix("key, shown only now:  ")
    assert key.startswith("wb_sam-laptop_")
    assert where == "entry for identity.api_keys in config.yaml:"
    assert yaml.safe_load(entry) == [
        {"id": "sam-laptop", "hash": hash_key(key), "user": "sam", "tenant": "acme"}
    ]


def test_an_entry_is_complete_with_all_that_rules_and_contracts_ask_for(tmp_path: Path) -> None:
    more = ("--role", "support", "--role", "lead", "--scope", "payments:write", "--client", "ide")
    done = weighbridge("keys", "new", "k", *WHO, *more, "--expires", "90d", "--json")
    made = json.loads(done.stdout)
    config = tmp_path / "config.yaml"
    config.write_text(f"servers: {{}}\nidentity:\n  api_keys:\n    - {json.dumps(made['entry'])}\n")
    (entry,) = load(config, {}).settings.identity.api_keys
    assert (entry.roles, entry.scopes) == ({"support", "lead"}, {"payments:write"})
    assert entry.client == "ide"
    assert entry.expires is not None
    left = entry.expires - SystemClock().now()
    assert timedelta(days=89, hours=23) < left <= timedelta(days=90)


def test_a_key_that_no_role_goes_with_is_told_so_beside_the_entry() -> None:
    assert "--role and --scope" in weighbridge("keys", "new", "k", *WHO).stderr
    assert weighbridge("keys", "new", "k", *WHO, "--role", "r").stderr == ""


def test_no_two_keys_are_the_same() -> None:
    first, second = (weighbridge("keys", "new", "k", *WHO, "--json").stdout for _ in range(2))
    assert first != second


@pytest.mark.parametrize("name", ["with blank", "under_score", "x" * 41, ""])
def test_an_id_that_could_not_be_read_back_is_refused(name: str) -> None:
    done = weighbridge("keys", "new", name, *WHO)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "weighbridge: a key id has up to 40 letters, digits and `-`\n"


def test_a_key_for_programs_is_of_another_kind_and_says_what_it_opens(tmp_path: Path) -> None:
    done = weighbridge("keys", "new", "desk", *WHO, "--admin", "--scope", "run:manage", "--json")
    made = json.loads(done.stdout)
    assert made["key"].startswith("wba_desk_")
    config = tmp_path / "config.yaml"
    config.write_text(f"servers: {{}}\nadmin:\n  api_keys:\n    - {json.dumps(made['entry'])}\n")
    entries = load(config, {}).settings.admin.api_keys
    principal = ApiKeys(entries, prefix=ADMIN_PREFIX).principal(made["key"], now=NOW)
    assert (principal.issuer, principal.scopes) == ("admin.api_keys", {"run:manage"})
    shown = weighbridge("keys", "new", "desk", *WHO, "--admin", "--scope", "run:read").stdout
    assert "entry for admin.api_keys in config.yaml:" in shown
    refused = weighbridge("keys", "new", "desk", *WHO, "--admin", "--scope", "payments:write")
    assert (refused.exit_code, "run:read" in refused.stderr) == (2, True)


def test_a_key_belongs_to_somebody() -> None:
    assert weighbridge("keys", "new", "k", "--tenant", "acme").exit_code == 2
    assert weighbridge("keys", "new", "k", "--user", "sam").exit_code == 2


def test_a_scope_of_runs_is_given_to_no_agent() -> None:
    done = weighbridge("keys", "new", "k", *WHO, "--scope", "run:manage")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "weighbridge: `run:manage` is for programs that manage runs; add `--admin`\n"
    )
