"""`weighbridge admin login`: a link for one person, once, and a word about it in the log."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from click.testing import Result

from gateway.store.store import Store
from tests.helpers.databases import ORIGIN
from tests.helpers.workspaces import weighbridge

ANN = {"user": "ann", "tenant": "acme", "roles": ["finance-lead"]}
BEN = {"user": "ben", "tenant": "acme"}
OTHER_ANN = {"user": "ann", "tenant": "globex"}
OIDC = {"issuer": "https://login.example.com/", "client_id": "weighbridge", "tenant": "acme"}


def a_folder(folder: Path, **admin: Any) -> Path:
    """Return a configuration beside a store."""
    Store.open(f"sqlite:///{folder}/store.db", origin=ORIGIN).close()
    (folder / "policies").mkdir()
    config: dict[str, Any] = {"store": f"sqlite:///{folder}/store.db", "admin": admin}
    path = folder / "config.yaml"
    path.write_text(json.dumps(config))
    return path


def login(config: Path, *words: str) -> Result:
    return weighbridge("admin", "login", "--config", str(config), *words)


def events(folder: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(folder / "store.db")) as store:
        rows = store.execute("SELECT body FROM events ORDER BY seq").fetchall()
    return [json.loads(row[0]) for row in rows]


def test_a_link_is_printed_for_the_only_account_and_its_making_is_logged(tmp_path: Path) -> None:
    done = login(a_folder(tmp_path, accounts=[ANN]))
    assert done.exit_code == 0
    link, said = done.stdout.splitlines()
    assert link.startswith("http://weighbridge.localhost:8701/login/link/")
    assert said == "logs in ann of acme, once, within 10 minutes"
    (event,) = events(tmp_path)
    assert event["tenant"] == "acme"
    assert event["body"]["action"] == "login_link_made"
    assert event["body"]["user"] == "ann"
    assert event["body"]["account"]
    assert link.rpartition("/")[2] not in json.dumps(event)


def test_where_people_come_by_another_name_the_link_begins_with_it(tmp_path: Path) -> None:
    config = a_folder(tmp_path, accounts=[ANN], public_url="https://approvals.example.com")
    made = json.loads(login(config, "--json").stdout)
    assert made["url"].startswith("https://approvals.example.com/login/link/")
    assert (made["user"], made["tenant"]) == ("ann", "acme")


def test_one_of_several_accounts_has_to_be_named(tmp_path: Path) -> None:
    config = a_folder(tmp_path, accounts=[ANN, BEN, OTHER_ANN])
    done = login(config)
    assert done.exit_code == 2
    assert done.stderr == (
        "weighbridge: name one account with `--user` and `--tenant`; there are `ann` of `acme`, "
        "`ben` of `acme`, `ann` of `globex`\n"
    )
    assert login(config, "--user", "ben").exit_code == 0
    assert login(config, "--user", "ann").exit_code == 2
    assert login(config, "--user", "ann", "--tenant", "globex").exit_code == 0


def test_nobody_gets_a_link_who_has_no_account(tmp_path: Path) -> None:
    done = login(a_folder(tmp_path, accounts=[ANN]), "--user", "zoe")
    assert done.exit_code == 2
    assert "no account is `zoe`; there are `ann` of `acme`" in done.stderr
    assert events(tmp_path) == []


def test_without_accounts_it_is_who_acts_locally(tmp_path: Path) -> None:
    assert "logs in local of local" in login(a_folder(tmp_path)).stdout


def test_beside_a_provider_there_has_to_be_an_account(tmp_path: Path) -> None:
    done = login(a_folder(tmp_path, oidc=OIDC))
    assert done.exit_code == 1
    assert "people log in at `admin.oidc`" in done.stderr


def test_help_shows_an_example() -> None:
    assert "Example: weighbridge admin login" in weighbridge("admin", "login", "--help").stdout
