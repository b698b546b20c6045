"""Servers in our words: references, secrets, folders."""

from pathlib import PurePath

from gateway.clients.entries import Entry, Left, read
from gateway.clients.kinds import CLAUDE_CODE, CLAUDE_DESKTOP, CODEX, VS_CODE, Client
from gateway.clients.references import Around
from gateway.clients.translating import Translated, Variables, passing, referred, translated
from gateway.types.json import JsonObject

AROUND = Around(project=PurePath("/p"), home=PurePath("/h"))
NOWHERE = Around(project=None, home=PurePath("/h"))


def ours(
    given: JsonObject,
    client: Client = CLAUDE_CODE,
    around: Around = AROUND,
    variables: Variables | None = None,
) -> tuple[JsonObject, Variables]:
    entry = read("a", given, client)
    assert isinstance(entry, Entry), entry
    kept = variables or Variables(referred([entry], client, around))
    made = translated(entry, "a", client, around, kept)
    assert isinstance(made, Translated), made
    return made.section, kept


def test_references_stay_references_and_the_client_goes_on_giving_them() -> None:
    section, variables = ours(
        {"command": "x", "env": {"TOKEN": "${MY_TOKEN}", "URL": "${BASE:-http://h}/v1"}}
    )
    assert section["env"] == {"TOKEN": "${MY_TOKEN}", "URL": "${BASE:-http://h}/v1"}
    assert variables.values == {}
    assert passing(variables.passed, CLAUDE_CODE, 0) == {
        "env": {"BASE": "${BASE:-http://h}", "MY_TOKEN": "${MY_TOKEN}"}
    }


def test_a_default_that_is_a_secret_is_given_by_the_client_and_written_nowhere_else() -> None:
    section, variables = ours(
        {
            "command": "x",
            "args": ["--db=${DB:-postgres://u:hunter2@h/x}", "--level", "${LEVEL:-info}"],
            "env": {"API_KEY": "${KEY:-hunter2}", "PLAIN": "${MY_TOKEN:-hunter2}"},
        }
    )
    assert "hunter2" not in str(section)
    assert section["args"] == ["--db=${DB}", "--level", "${LEVEL:-info}"]
    assert section["env"] == {"API_KEY": "${KEY}", "PLAIN": "${MY_TOKEN}"}
    assert variables.passed["KEY"] == "${KEY:-hunter2}"


def test_what_stands_beside_a_reference_may_be_a_secret() -> None:
    headers: JsonObject = {"Authorization": "Bearer hunter2.${PART}", "X": "Basic ${A}:${B}"}
    section, variables = ours({"url": "https://h", "headers": headers})
    assert section["headers"] == {
        "Authorization": "Bearer ${A_AUTHORIZATION}${PART}",
        "X": "Basic ${A}:${B}",
    }
    assert variables.values == {"A_AUTHORIZATION": "hunter2."}
    section, _ = ours({"command": "x", "env": {"KEY_FILE": "${workspaceFolder}/key"}}, VS_CODE)
    assert section["env"] == {"KEY_FILE": "/p/key"}


def test_no_server_is_given_what_another_one_has_as_its_default() -> None:
    variables = Variables(frozenset({"KEY", "KEY_2"}))
    said: list[object] = []
    for default in ("one", "two", "one"):
        entry: JsonObject = {"url": "https://h", "headers": {"X": f"${{KEY:-{default}}}"}}
        said.append(ours(entry, variables=variables)[0]["headers"])
    assert said == [{"X": "${KEY}"}, {"X": "${KEY_3}"}, {"X": "${KEY}"}]
    assert variables.passed == {"KEY": "${KEY:-one}", "KEY_3": "${KEY:-two}"}


def test_two_inputs_whose_names_become_one_stay_two() -> None:
    section, variables = ours(
        {"command": "x", "env": {"A": "${input:my-key}", "B": "${input:my_key}"}}, VS_CODE
    )
    assert section["env"] == {"A": "${INPUT_MY_KEY}", "B": "${INPUT_MY_KEY_2}"}
    assert variables.passed["INPUT_MY_KEY_2"] == "${input:my_key}"


def test_an_editors_inputs_stay_with_the_editor() -> None:
    section, variables = ours(
        {
            "command": "${workspaceFolder}/run.sh",
            "args": ["--token", "${input:tok}", "${userHome}"],
            "env": {"A": "${env:A}"},
        },
        VS_CODE,
    )
    assert section == {
        "command": "/p/run.sh",
        "args": ["--token", "${INPUT_TOK}", "/h"],
        "env": {"A": "${A}"},
        "cwd": "/p",
    }
    assert variables.passed == {"INPUT_TOK": "${input:tok}", "A": "${env:A}"}


def test_secrets_get_a_variable_each_and_the_rest_stays_to_be_read() -> None:
    section, variables = ours(
        {
            "command": "x",
            "args": ["--api-key=abc", "https://u:pw123@h/"],
            "env": {"API_KEY": "def", "LEVEL": "1"},
        }
    )
    assert section["args"] == ["--api-key=${API_KEY}", "https://u:${SECRET}@h/"]
    assert section["env"] == {"API_KEY": "${A_API_KEY}", "LEVEL": "1"}
    assert variables.values == {"API_KEY": "abc", "SECRET": "pw123", "A_API_KEY": "def"}


def test_a_secret_never_takes_the_name_of_a_reference() -> None:
    section, variables = ours({"command": "x", "env": {"TOKEN": "abc", "B": "${TOKEN}"}})
    assert section["env"] == {"TOKEN": "${A_TOKEN}", "B": "${TOKEN}"}
    assert variables.values == {"A_TOKEN": "abc"}


def test_servers_share_a_variable_only_for_one_value() -> None:
    variables = Variables(())
    found = [
        variables.keep("TOKEN", server, secret)
        for server, secret in (("a", "1"), ("b", "1"), ("c", "2"), ("c", "3"))
    ]
    assert found == ["TOKEN", "TOKEN", "C_TOKEN", "C_TOKEN_2"]
    assert variables.keep("9-lives", "a", "4") == "S_9_LIVES"


def test_a_remote_server_keeps_its_scheme_in_sight() -> None:
    section, variables = ours(
        {"url": "https://h/mcp?key=abc", "headers": {"Authorization": "Bearer def"}}
    )
    assert section == {
        "url": "https://h/mcp?key=${URL_SECRET}",
        "headers": {"Authorization": "Bearer ${A_AUTHORIZATION}"},
    }
    assert variables.values == {"URL_SECRET": "abc", "A_AUTHORIZATION": "def"}


def test_what_a_client_hands_on_without_a_word_is_named() -> None:
    around = Around(project=None, home=None, inherited=("HTTPS_PROXY", "DISPLAY"))
    section, variables = ours({"command": "x", "env": {"DISPLAY": ":9"}}, around=around)
    assert section == {"command": "x", "env": {"DISPLAY": ":9"}, "inherit_env": ["HTTPS_PROXY"]}
    assert not variables.passed
    assert "inherit_env" not in ours({"url": "https://h"}, around=around)[0]


def test_a_dollar_before_a_secret_is_part_of_it() -> None:
    section, variables = ours({"url": "https://h/$a8f5f167f44f4964e6c9/mcp"})
    assert section["url"] == "https://h/${URL_SECRET}/mcp"
    assert variables.values == {"URL_SECRET": "$a8f5f167f44f4964e6c9"}


def test_codex_hands_on_variables_by_name_and_is_told_to_wait() -> None:
    section, variables = ours(
        {"command": "x", "env_vars": ["A"], "tool_timeout_sec": 90, "startup_timeout_sec": 0.5},
        CODEX,
        NOWHERE,
    )
    assert section == {
        "command": "x",
        "inherit_env": ["A"],
        "timeout": "90s",
        "start_timeout": "500ms",
    }
    assert passing(variables.passed, CODEX, 90) == {
        "env_vars": ["A"],
        "startup_timeout_sec": 60,
        "tool_timeout_sec": 90,
    }
    remote, _ = ours(
        {"url": "https://h", "bearer_token_env_var": "T", "env_http_headers": {"X": "V"}},
        CODEX,
        NOWHERE,
    )
    assert remote["headers"] == {"X": "${V}", "Authorization": "Bearer ${T}"}


def test_a_text_that_is_no_reference_there_is_none_here() -> None:
    section, _ = ours({"command": "x", "args": ["${A}"]}, CLAUDE_DESKTOP, NOWHERE)
    assert section["args"] == ["$${A}"]


def test_relative_commands_and_folders_begin_where_the_client_began() -> None:
    section, _ = ours({"command": "./tools/run", "cwd": "sub"})
    assert (section["command"], section["cwd"]) == ("/p/tools/run", "/p/sub")
    section, _ = ours({"command": "npx", "cwd": "/abs"})
    assert (section["command"], section["cwd"]) == ("npx", "/abs")


def test_nothing_is_kept_of_a_server_that_stays() -> None:
    entry = read("a", {"command": "${config:x}", "env": {"TOKEN": "abc"}}, VS_CODE)
    assert isinstance(entry, Entry)
    variables = Variables(())
    made = translated(entry, "a", VS_CODE, AROUND, variables)
    assert isinstance(made, Left)
    assert (variables.values, variables.passed) == ({}, {})
