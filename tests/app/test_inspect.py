"""A look at the servers without serving anybody."""

from pathlib import Path

from gateway.app.inspect import inspect
from gateway.servers.state import ServerStatus
from tests.helpers.fake_server import EVERYTHING, Script, alive, record_of, tool, until_async
from tests.helpers.workspaces import a_workspace
from tests.journeys import house


async def test_it_says_what_every_server_has_and_how_it_fares(tmp_path: Path) -> None:
    servers = {
        "alpha": house.stdio(Script(tools=[tool("find"), tool("note")]), tmp_path),
        "broken": {"command": "/no/such/program"},
        "lacking": {"command": "x", "env": {"KEY": "${NOBODY_SET_THIS}"}},
        "off": {"command": "x", "disabled": True},
    }
    place = a_workspace(tmp_path, servers)
    found = await inspect(place.loaded(), tmp_path, place.environ)
    assert [item.key for item in found.tools] == ["alpha.find", "alpha.note"]
    alpha, broken = found.states
    assert (alpha.name, alpha.status, alpha.tools) == ("alpha", ServerStatus.READY, 2)
    assert (broken.name, broken.status) == ("broken", ServerStatus.FAILED)
    assert "/no/such/program" in broken.reason
    assert list(found.misconfigured) == ["lacking"]
    assert "NOBODY_SET_THIS" in found.misconfigured["lacking"]


async def test_it_says_what_else_there_is_to_be_read_and_got(tmp_path: Path) -> None:
    script = Script(
        resources=[{"uri": "crm://a", "name": "a"}],
        templates=[{"uriTemplate": "crm://{b}", "name": "b"}],
        prompts=[{"name": "reply"}],
        capabilities=EVERYTHING,
    )
    place = a_workspace(tmp_path, {"alpha": house.stdio(script, tmp_path)})
    found = await inspect(place.loaded(), tmp_path, place.environ)
    assert [each.key for each in found.resources] == ["crm://a"]
    assert [each.key for each in found.templates] == ["crm://{b}"]
    assert [each.key for each in found.prompts] == ["alpha.reply"]


async def test_it_leaves_no_process_behind(tmp_path: Path) -> None:
    place = a_workspace(tmp_path, {"alpha": house.stdio(Script(helper=True), tmp_path)})
    await inspect(place.loaded(), tmp_path, place.environ)
    (server,) = record_of(tmp_path, "alpha").pids()
    helper = int((tmp_path / "alpha.helper").read_text())
    await until_async(lambda: not alive(server) and not alive(helper))


async def test_a_server_that_never_answers_is_waited_for_only_as_long_as_told(
    tmp_path: Path,
) -> None:
    mute = {"command": "sh", "args": ["-c", "cat > /dev/null"]}  # ends with its input
    place = a_workspace(tmp_path, {"mute": mute})
    found = await inspect(place.loaded(), tmp_path, place.environ, within_s=0.01)
    assert found.tools == ()
    assert [state.status for state in found.states] == [ServerStatus.STARTING]


async def test_a_secret_that_a_server_says_is_masked_whosever_it_is(tmp_path: Path) -> None:
    says = Script(on_start=[{"stderr": "bad keys s3cr3t-value-1 s3cr3t-value-2"}, {"exit": 3}])
    servers = {
        "alpha": house.stdio(says, tmp_path, env={"KEY": "s3cr3t-value-1"}),
        "beta": {"url": "http://127.0.0.1:9", "headers": {"Authorization": "s3cr3t-value-2"}},
    }
    place = a_workspace(tmp_path, servers)
    found = await inspect(place.loaded(), tmp_path, place.environ)
    alpha = found.states[0]
    assert "bad keys" in alpha.reason + alpha.stderr_tail
    assert "s3cr3t" not in str(alpha)


async def test_a_server_that_never_answers_is_waited_for_as_long_as_its_settings_say(
    tmp_path: Path,
) -> None:
    mute = {"command": "sh", "args": ["-c", "cat > /dev/null"], "start_timeout": "100ms"}
    place = a_workspace(tmp_path, {"mute": mute})
    found = await inspect(place.loaded(), tmp_path, place.environ)
    assert [state.reason for state in found.states] == ["`mute` did not answer in time"]
