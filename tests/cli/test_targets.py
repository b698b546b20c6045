"""Names as people use them, taken as policies write them."""

import pytest

from gateway.cli.targets import Known, Named, of_prompt, of_resource, of_tool
from gateway.servers.names import Naming, expose
from gateway.types.tools import Kind
from tests.policy.example import TEXT, contract

NOTE = contract("desk.add_note", {"text": TEXT})
GUESSED = Known(
    servers=["crm", "desk"], is_configured=False, naming=Naming(), contracts={NOTE.tool: NOTE}
)
CONFIGURED = Known(
    servers=["crm", "desk"], is_configured=True, naming=Naming(), contracts={NOTE.tool: NOTE}
)
ONE = Known(servers=["desk"], is_configured=True, naming=Naming(transparent=True), contracts={})


@pytest.mark.parametrize("known", [GUESSED, CONFIGURED])
@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("desk.reply", ""),
        ("desk__reply", ""),
        ("reply", "desk"),
        ("desk.reply", "desk"),
        ("desk__reply", "desk"),
    ],
)
def test_a_prompt_is_known_by_each_of_its_names(known: Known, name: str, server: str) -> None:
    found = of_prompt(name, server, known)
    assert (found.kind, found.key, found.server) == (Kind.PROMPT, "desk.reply", "desk")
    assert found.note == ("" if name == found.key else f"`{name}` is `desk.reply` in policies")


@pytest.mark.parametrize("name", ["reply", "desk.reply", "a.b", "desk__reply"])
def test_one_server_alone_has_every_prompt(name: str) -> None:
    found = of_prompt(name, "", ONE)
    assert found.server == "desk"
    assert found.key == f"desk.{name.removeprefix('desk.')}"


def test_a_server_that_nothing_names_is_doubted_where_it_could_be() -> None:
    found = of_prompt("dsk.reply", "", GUESSED)
    assert found.key == "dsk.reply"
    assert found.note == "no contract and no rule names a server `dsk`; did you mean `desk`?"


def an_altered_name() -> str:
    return expose({("desk", "weekly report")}, Naming())["desk", "weekly report"]


@pytest.mark.parametrize(
    ("name", "server", "said"),
    [
        ("reply", "", "`reply` names no server; write `--prompt server.reply`, or add `--server`; "
         "there are `crm`, `desk`"),
        ("dsk.reply", "", "no server `dsk` is configured; did you mean `desk`?"),
        ("reply", "zzz", "no server `zzz` is configured; there are `crm`, `desk`"),
        (an_altered_name(), "", "agents see an altered name; `weighbridge prompts list` has both"),
    ],
)  # fmt: skip
def test_a_name_that_can_not_be_taken_is_told_what_to_write(
    name: str, server: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        of_prompt(name, server, CONFIGURED)
    assert said in capsys.readouterr().err


def test_a_uri_is_known_by_the_form_that_agents_use_too() -> None:
    uri = "weighbridge://crm/file%3A%2F%2F%2Fa"
    note = f"`{uri}` is `file:///a` of server `crm` in policies"
    assert of_resource(uri, "", CONFIGURED) == Named(
        kind=Kind.RESOURCE, key="file:///a", server="crm", note=note
    )


@pytest.mark.parametrize(
    ("uri", "server", "said"),
    [
        ("weighbridge://crm/file%3A%2F%2Fa", "desk", "and `--server` says `desk`"),
        ("weighbridge://crm", "", "is no URI of a resource"),
        ("file:///a", "dsk", "no server `dsk` is configured; did you mean `desk`?"),
    ],
)
def test_a_uri_that_can_not_be_meant_is_refused(
    uri: str, server: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        of_resource(uri, server, CONFIGURED)
    assert said in capsys.readouterr().err


def test_the_server_of_a_resource_is_never_guessed_from_several() -> None:
    found = of_resource("file:///a", "", CONFIGURED)
    assert found.server == ""
    assert found.note.endswith("so no rule with `servers` matches; there are `crm`, `desk`")
    nothing = Known(servers=[], is_configured=False, naming=Naming(), contracts={})
    assert of_resource("file:///a", "", nothing).note.endswith("with `servers` matches")


def test_a_tool_is_known_by_both_of_its_names() -> None:
    assert of_tool("desk.add_note", GUESSED).note == ""
    assert of_tool("desk__add_note", GUESSED) == Named(
        kind=Kind.TOOL,
        key="desk.add_note",
        server="desk",
        note="`desk__add_note` is `desk.add_note` in contracts and policies",
    )
