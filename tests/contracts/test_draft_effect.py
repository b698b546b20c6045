"""What a tool does, guessed: held against what published servers really offer."""

from functools import cache
from pathlib import Path

import pytest

from gateway import jsontext
from gateway.contracts.draft_effect import Judgement, judge
from gateway.contracts.pins import pin
from gateway.types.json import Json, JsonObject
from gateway.types.tools import Effect, Risk, Tool

SERVERS = Path(__file__).parent / "servers"
# Drafts were made good on the others; these were only looked at when that was done.
HELD_OUT = frozenset({"kubernetes", "mongodb", "notion", "airtable", "firecrawl", "todoist"})
# So many of the tools that only read are drafted as reads. To draft all as writes is no drafting.
READS_FOUND, READS_FOUND_HELD_OUT = 0.78, 0.78


def a_map(value: Json) -> JsonObject:
    assert isinstance(value, dict)
    return value


@cache
def the_truth() -> dict[tuple[str, str], tuple[Effect, Risk]]:
    """Return, by server and tool, what people found out from the descriptions."""
    found: dict[tuple[str, str], tuple[Effect, Risk]] = {}
    for server, tools in a_map(jsontext.parse((SERVERS / "truth.json").read_bytes())).items():
        for name, said in a_map(tools).items():
            assert isinstance(said, list)
            found[server, name] = Effect(str(said[0])), Risk(str(said[1]))
    return found


@cache
def judged(known_by: str = "") -> dict[tuple[str, str], Judgement]:
    """Judge every tool of every file, under its own server's name or another."""
    found: dict[tuple[str, str], Judgement] = {}
    for path in sorted(SERVERS.glob("*.json")):
        if path.stem == "truth":
            continue
        published = a_map(jsontext.parse(path.read_bytes()))
        tools = published["tools"]
        assert isinstance(tools, list)
        for each in map(a_map, tools):
            found[path.stem, str(each["name"])] = judge(published_by(known_by or path.stem, each))
    return found


def published_by(server: str, definition: JsonObject) -> Tool:
    name = str(definition["name"])
    return Tool(
        server=server, name=name, exposed_name="t", definition=definition, pin=pin(definition)
    )


def a_tool(name: str, description: str = "", properties: JsonObject | None = None) -> Tool:
    schema: JsonObject = {"type": "object", "properties": properties or {}}
    definition: JsonObject = {"name": name, "inputSchema": schema}
    if description:
        definition["description"] = description
    return published_by("s", definition)


def test_what_is_known_is_about_all_tools_of_many_servers() -> None:
    assert the_truth().keys() == judged().keys()
    assert len({server for server, _ in the_truth()}) >= 8
    assert len(the_truth()) >= 100


@pytest.mark.parametrize("known_by", ["", "desk"])
def test_no_writing_tool_of_a_published_server_is_drafted_as_read(known_by: str) -> None:
    wrong = [
        tool
        for tool, found in judged(known_by).items()
        if found.effect is Effect.READ and the_truth()[tool][0] is not Effect.READ
    ]
    assert not wrong


def test_no_tool_of_a_published_server_is_drafted_below_its_risk() -> None:
    wrong = [
        (tool, found.risk)
        for tool, found in judged().items()
        if found.risk.rank < the_truth()[tool][1].rank
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("held_out", "floor"), [(False, READS_FOUND), (True, READS_FOUND_HELD_OUT)]
)
def test_most_tools_that_only_read_are_drafted_as_reads(held_out: bool, floor: float) -> None:
    reads = [
        judged()[tool].effect
        for tool, (effect, _) in the_truth().items()
        if effect is Effect.READ and (tool[0] in HELD_OUT) is held_out
    ]
    share = sum(found is Effect.READ for found in reads) / len(reads)
    assert share >= floor, f"{share:.0%} of {len(reads)} reads"


def test_every_raise_says_why() -> None:
    for found in judged().values():
        assert found.effect_whys
        assert all(why.isprintable() for why in (*found.effect_whys, *found.risk_whys))
        assert found.effect_whys[-1].removeprefix("raised to ").startswith(found.effect.value)


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("list_and_archive", "List what is old"),
        ("get_next_message", "Consumes the next message of the queue"),
        ("find_user", "Creates the user where there is none"),
        ("find_user", "Finds a user. Creates one if there is none"),
        ("find_user", "Find, update or invite users"),
        ("find_user", "Finds and updates a user"),
        ("find_user", "Finds a user, who will be marked as seen"),
        ("read_rows", "Runs SELECT and INSERT on the database"),
        ("issue_list", "Marks issues as read"),
        ("order_status", ""),
        ("status", "Sets the status line"),
        ("get_dеlete_user", "Get a user"),  # one letter is Cyrillic
        ("選択", "Get a user"),
        ("git_fetch", "Fetch changes of a remote repository"),
        ("list_push", ""),
        ("list_push", "Adds to the end of a list"),
        ("show_notification", "Show a notification"),
        ("browse_to", "Browse to a page"),
        ("resolve_issue_status", "Resolves an issue"),
    ],
)
def test_one_sign_of_a_deed_is_enough_for_a_write(name: str, description: str) -> None:
    assert judge(a_tool(name, description)).effect is not Effect.READ


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("pods_list", "Lists pods, services and deployments"),
        ("s_get_user", ""),
        ("api_get_user", ""),
        ("git_status", "Shows the status"),
        ("get_commit", "Get one commit. Use this to find files to edit"),
        ("get_order", "Returns an order with its comments and creation time"),
    ],
)
def test_a_thing_that_is_called_like_a_deed_is_none(name: str, description: str) -> None:
    assert judge(a_tool(name, description)).effect is Effect.READ


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("filename", {"type": "string"}),
        ("saveTo", {"type": "string"}),
        ("action", {"type": "string"}),
        ("action", {"enum": ["list", "create"]}),
        ("method", {"anyOf": [{"const": "GET"}, {"const": "POST"}]}),
        ("delete_after", {"type": "boolean"}),
        ("query", {"type": "string", "description": "the SQL to run"}),
    ],
)
def test_an_argument_that_can_do_something_makes_a_write(name: str, schema: JsonObject) -> None:
    found = judge(a_tool("get_rows", "Get rows", {name: schema}))
    assert found.effect is Effect.WRITE
    assert name in found.effect_whys[-1]


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("action", {"enum": ["list", "get"]}),
        ("output", {"enum": ["json", "yaml"]}),
        ("state", {"enum": ["open", "closed", "merged"]}),
        ("created_after", {"type": "string"}),
    ],
)
def test_an_argument_that_only_chooses_what_is_read_makes_no_write(
    name: str, schema: JsonObject
) -> None:
    assert judge(a_tool("get_rows", "Get rows", {name: schema})).effect is Effect.READ


def test_a_body_is_sent_where_there_is_an_address() -> None:
    text: JsonObject = {"type": "string"}
    assert judge(a_tool("fetch", "", {"url": text, "body": text})).effect is Effect.WRITE
    assert judge(a_tool("find_mail", "", {"body": text})).effect is Effect.READ


@pytest.mark.parametrize(
    "names",
    [{"title": "Delete users"}, {"annotations": {"title": "Deletes users", "readOnlyHint": True}}],
)
def test_a_title_tells_of_a_deed_as_well(names: JsonObject) -> None:
    tool = published_by("s", {"name": "get_users", "inputSchema": {}, **names})
    assert judge(tool).effect is Effect.DESTRUCTIVE


def test_what_runs_a_program_that_it_is_given_can_do_anything() -> None:
    found = judge(a_tool("run_in_shell", "Runs it", {"command": {"type": "string"}}))
    assert (found.effect, found.risk) == (Effect.DESTRUCTIVE, Risk.CRITICAL)


@pytest.mark.parametrize(
    "beside",
    [
        {"language": {"enum": ["python", "bash"]}, "code": {}},
        {"code": {"description": "JavaScript to run in the page"}},
    ],
)
def test_a_program_is_told_by_its_language_as_well(beside: JsonObject) -> None:
    assert judge(a_tool("interact", "Interacts", beside)).effect is Effect.DESTRUCTIVE
    assert judge(a_tool("make_coupon", "Makes one", {"code": {}})).effect is Effect.WRITE


def test_arguments_behind_a_reference_are_looked_at_as_well() -> None:
    schema: JsonObject = {
        "$ref": "#/$defs/args",
        "$defs": {"args": {"properties": {"force": {"type": "boolean"}}}},
    }
    tool = published_by("s", {"name": "get_rows", "inputSchema": schema})
    assert judge(tool).effect is Effect.WRITE


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_cookies", ""),
        ("get-env", ""),
        ("get_settings", "Returns the settings, API keys too"),
    ],
)
def test_a_read_of_secrets_is_not_of_the_lowest_class(name: str, description: str) -> None:
    found = judge(a_tool(name, description))
    assert (found.effect, found.risk) == (Effect.READ, Risk.MEDIUM)
    assert "secret" in found.risk_whys[0]


def test_a_read_that_goes_where_it_is_told_is_not_of_the_lowest_class() -> None:
    assert judge(a_tool("fetch", "", {"url": {"type": "string"}})).risk is Risk.MEDIUM


def test_a_strange_description_takes_no_time_and_breaks_no_line() -> None:
    strange: JsonObject = {"a`\n" + "x" * 500 + "_force": {}, "force": {}}
    found = judge(a_tool("get", "and " * 200_000 + "\n" * 100_000, strange))
    assert all(len(why) < 200 and why.isprintable() for why in found.effect_whys)
