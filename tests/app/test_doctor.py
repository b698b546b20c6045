"""What the doctor looks at, what it finds, and the mend that it names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.app.doctor import Diagnosis, examine
from gateway.clock import SystemClock
from gateway.store import sealing_keys
from gateway.types.audit import Audit
from gateway.types.json import JsonObject
from tests.helpers.fake_server import Script, tool
from tests.helpers.issuer import key_set, public_jwk, rsa_key
from tests.helpers.provider import CLIENT, providing
from tests.helpers.workspaces import Workspace, a_workspace
from tests.journeys import house

FIND = tool("find")
OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}


async def examined(
    place: Workspace, environ: Mapping[str, str] | None = None
) -> dict[str, list[Diagnosis]]:
    """Return what is found, by part."""
    found: dict[str, list[Diagnosis]] = {}
    for each in await examine(place.loaded(), place.folder, {**place.environ, **(environ or {})}):
        found.setdefault(each.part, []).append(each)
    return found


def mends(found: Mapping[str, list[Diagnosis]], part: str) -> list[tuple[str, str]]:
    """Return what has to be mended of one part; everything of it has a mend."""
    wrong = [each for each in found[part] if not each.ok]
    assert all(each.mend for each in wrong)
    return [(each.found, each.mend) for each in wrong]


async def test_a_gateway_that_lacks_nothing_is_told_so_part_by_part(tmp_path: Path) -> None:
    entry = house.stdio(Script(tools=[FIND]), tmp_path)
    place = a_workspace(tmp_path, {"alpha": entry}, contracts=[house.contract(FIND)])
    found = await examined(place)
    assert list(found) == [
        *("config", "servers", "policies", "contracts", "store", "log", "telemetry")
    ]
    assert all(each.ok for part in found.values() for each in part)
    (server,), (contracts,) = found["servers"], found["contracts"]
    assert server.found == "`alpha` answers (stdio, MCP 2026-07-28); tools: 1 exposed"
    assert contracts.found == "1 tool is as reviewed"


@pytest.mark.parametrize(
    ("methods", "told"),
    [("tools/call", "1 exposed"), ("elicitation/create", "1 exposed, 1 no contract")],
)
async def test_tools_are_counted_as_the_gateway_has_them_under_its_policy(
    methods: str, told: str, tmp_path: Path
) -> None:
    script = Script(eras=["legacy"], tools=[FIND], able_tools=[tool("ask_back")])
    place = a_workspace(
        tmp_path,
        {"alpha": house.stdio(script, tmp_path)},
        contracts=[house.contract(FIND)],
        policy=f"rules: [{{id: a, decision: allow, match: {{methods: [{methods}]}}}}]",
    )
    assert (await examined(place))["servers"][0].found.endswith(f"tools: {told}")


async def test_a_gateway_without_servers_is_told_where_they_go(tmp_path: Path) -> None:
    found = await examined(a_workspace(tmp_path))
    assert (
        "there are no servers",
        "add entries under `servers`, as in an agent client's `mcpServers`",
    ) in mends(found, "config")


@pytest.mark.parametrize("line", ["contracts: {unreviewed: observe}", "mode: observe"])
async def test_drafts_that_count_are_one_finding_and_not_said_to_be_hidden(
    line: str, tmp_path: Path
) -> None:
    tools = [tool(name) for name in ("a", "b", "c", "d", "new")]
    place = a_workspace(
        tmp_path,
        {"alpha": house.stdio(Script(tools=tools), tmp_path)},
        contracts=[house.contract(each, reviewed=False) for each in tools[:4]],
    )
    place.config.write_text(f"{place.config.read_text()}{line}\n")
    assert mends(await examined(place), "contracts") == [
        (
            "`alpha.new` has no contract",
            "run `weighbridge tools pin`, then `weighbridge tools review`",
        ),
        (
            "drafts count, though nobody has reviewed them: "
            "`alpha.a`, `alpha.b`, `alpha.c` and 1 more",
            "run `weighbridge tools review`, which walks them one by one",
        ),
    ]


async def test_every_tool_that_is_not_exposed_is_named_with_what_exposes_it(
    tmp_path: Path,
) -> None:
    broken = {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}}}
    script = Script(tools=[FIND, tool("new"), tool("draft"), tool("other"), broken])
    place = a_workspace(
        tmp_path,
        {"alpha": house.stdio(script, tmp_path)},
        contracts=[
            house.contract(FIND),
            house.contract(tool("draft"), reviewed=False),
            house.contract(tool("other", description="as it was")),
        ],
    )
    found = await examined(place)
    told = dict(mends(found, "contracts"))
    assert told["`alpha.new` has no contract, so it is not exposed"] == (
        "run `weighbridge tools pin`, then `weighbridge tools review`"
    )
    draft = told["the contract of `alpha.draft` is not reviewed, so it is not exposed"]
    assert draft.startswith("run `weighbridge tools review alpha.draft`, or look at ")
    assert "contracts/tools.yaml:" in draft
    assert told["`alpha.other` is not what was reviewed, and blocked"] == (
        "run `weighbridge tools diff alpha.other`, then `tools pin alpha.other`"
    )
    assert found["contracts"][-1].found == "1 tool is as reviewed"
    assert found["servers"][0].found.endswith(
        "tools: 1 exposed, 1 unreviewed, 1 no contract, 1 changed, 1 quarantined"
    )
    ((kept_back, mend),) = mends(found, "servers")
    assert kept_back.startswith("`alpha.bad` is kept back: ")
    assert "at `/inputSchema/properties/a" in kept_back
    assert mend == "tell the server's author; its other tools work"


async def test_a_server_that_is_not_there_is_named_with_its_reason(tmp_path: Path) -> None:
    servers = {
        "broken": {"command": "/no/such/program"},
        "lacking": {"command": "x", "env": {"KEY": "${NOBODY_SET_THIS}"}},
    }
    (broken, mend), (lacking, set_it) = mends(
        await examined(a_workspace(tmp_path, servers)), "servers"
    )
    assert broken.startswith("`broken`: ")
    assert "/no/such/program" in broken
    assert mend.endswith("then mend `servers.broken`")
    assert "NOBODY_SET_THIS" in lacking
    assert set_it == "set the variable, or write `${NAME:-default}`"


async def test_a_policy_that_does_not_compile_is_told_with_its_place(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, policy="rules:\n  - {id: x, decision: perhaps}\n")
    found = await examined(place)
    ((problem, mend),) = mends(found, "policies")
    assert f"{tmp_path}/policies/policy.yaml:2:" in problem
    assert "weighbridge tools pin" in mend
    assert "contracts" not in found


async def test_a_policy_test_that_fails_is_told_with_what_to_mend(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, contracts=[house.contract(FIND)])
    tests = tmp_path / "policies" / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "policy.yaml").write_text(
        "apiVersion: weighbridge/v1\nkind: PolicyTest\n"
        "callers:\n  ana: {user: ana, tenant: acme}\n"
        "tests:\n  - {name: none may, as: ana, call: alpha.find, expect: {decision: deny}}\n"
    )
    ((problem, mend),) = mends(await examined(place), "policies")
    assert "policy test `none may` fails" in problem
    assert mend == "mend a rule, or what the test expects"


async def test_a_policy_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, policies=str(tmp_path / "none"))
    ((problem, _),) = mends(await examined(place), "policies")
    assert problem == f"{tmp_path}/none: there is no such folder; make it, or set `policies`"


async def test_warnings_of_the_linter_are_counted_and_are_no_fault(tmp_path: Path) -> None:
    found = await examined(a_workspace(tmp_path))
    assert all(each.ok for each in found["policies"])
    assert found["policies"][-1].found.startswith("the linter has ")


def issuer(keys: Path) -> dict[str, Any]:
    """Return an identity section whose keys are in a file."""
    entry = {
        "issuer": "https://idp.example",
        "audience": "https://tools.example.com/mcp",
        "jwks_file": str(keys),
        "tenant": "org",
    }
    return {"identity": {"jwt": [entry]}}


async def test_the_provider_at_which_people_log_in_is_asked(tmp_path: Path) -> None:
    async with providing(SystemClock()) as fake:
        oidc = {"issuer": fake.issuer, "client_id": CLIENT, "tenant": "acme"}
        place = a_workspace(tmp_path, admin={"oidc": oidc})
        (fine,) = (await examined(place))["identity"]
        assert (fine.ok, fine.found) == (True, f"people can log in at `{fake.issuer}`")
    ((problem, mend),) = mends(await examined(place), "identity")
    assert problem.startswith("nobody can log in at the identity provider: ")
    assert "`admin.oidc.issuer`" in mend


async def test_keys_of_an_issuer_are_looked_for(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    place = a_workspace(tmp_path, **issuer(keys))
    ((problem, mend),) = mends(await examined(place), "identity")
    assert problem.startswith("keys of an issuer: ")
    assert "keys.json" in problem
    assert "`jwks_file`" in mend
    keys.write_bytes(key_set(public_jwk(rsa_key(), "k1")))
    (fine,) = (await examined(place))["identity"]
    assert (fine.ok, fine.found) == (True, "the keys of every issuer can be had")


@pytest.mark.parametrize(
    ("store", "mend"),
    [
        ("sqlite:////proc/none/store.db", "make the place writable, or set `store`"),
        ("postgresql://nobody@127.0.0.1:1/none", "start the database, or correct `store`"),
    ],
)
async def test_a_store_that_can_not_be_used_is_told_with_its_mend(
    store: str, mend: str, tmp_path: Path
) -> None:
    place = a_workspace(tmp_path)
    place.config.write_text(f"store: {store}\n")
    ((problem, told),) = mends(await examined(place), "store")
    assert told == mend
    assert problem


async def test_it_says_where_spans_go_and_which_variable_can_not_be_used(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    (silent,) = (await examined(place))["telemetry"]
    assert "set `OTEL_EXPORTER_OTLP_ENDPOINT`" in silent.found
    found = await examined(place, {**OTLP, "OTEL_BSP_MAX_QUEUE_SIZE": "many"})
    ((problem, _),) = mends(found, "telemetry")
    assert "OTEL_BSP_MAX_QUEUE_SIZE" in problem
    assert found["telemetry"][-1].found == "spans and metrics are exported"


HELD = """\
rules:
  - {id: large, decision: require_approval, match: {tools: ["alpha.*"]},
     approval: {approvers: {roles: [lead]}, quorum: 1}}
"""


async def test_rules_that_hold_calls_need_people_who_can_decide(tmp_path: Path) -> None:
    local = {"local": {"user": "kim", "roles": ["lead"]}}
    place = a_workspace(tmp_path, policy=HELD, identity=local)
    ((found, mend),) = mends(await examined(place), "approvals")
    assert found == "nobody could decide what the rule `large` holds; it takes 1 more of lead"
    assert "`admin.accounts`" in mend


async def test_where_people_can_decide_is_told_and_whether_they_hear_of_it(tmp_path: Path) -> None:
    account = {"user": "lea", "tenant": "acme", "roles": ["lead"]}
    place = a_workspace(tmp_path, policy=HELD, admin={"accounts": [account]})
    where, told = [each.found for each in (await examined(place))["approvals"]]
    assert where == (
        "1 rule holds calls, and people can decide at http://weighbridge.localhost:8701 and in a "
        "terminal"
    )
    assert told.startswith("nobody is told of requests")
    hook = {"name": "chat", "url": "https://hooks.example.com/x", "format": "slack"}
    place = a_workspace(
        tmp_path,
        policy=HELD,
        admin={"accounts": [account]},
        approvals={"webhooks": [hook]},
    )
    assert len((await examined(place))["approvals"]) == 1


async def test_contracts_that_seal_need_a_key_that_can_be_read(tmp_path: Path) -> None:
    entry = house.stdio(Script(tools=[FIND]), tmp_path)
    contract = house.contract(FIND, audit=Audit(seal=True))
    key = tmp_path / "own.key"
    place = a_workspace(
        *(tmp_path, {"alpha": entry}),
        contracts=[contract],
        events={"sealing": {"key": str(key)}},
    )
    ((found, mend),) = mends(await examined(place), "log")
    assert "there is no key for sealed copies" in found
    assert "put a copy of it back" in mend
    sealing_keys.make(key)
    told = [each.found for each in (await examined(place))["log"]]
    assert told[-1] == "sealed copies of arguments have their key"


async def test_workers_that_run_are_named_and_so_is_one_that_is_away(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    with place.store() as store:
        for number in (1, 3):
            told: JsonObject = {"front": "http://a/mcp", "worker": {"number": number, "of": 3}}
            await store.instances.save(f"gw-{number}", told)
    found = await examined(place)
    assert found["workers"][0].found == "running: worker 1 of 3, worker 3 of 3"
    ((away, mend),) = mends(found, "workers")
    assert away == "worker 2 of 3 at http://a/mcp does not serve right now"
    assert "the log says why" in mend
