from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.config.load import Loaded, load
from gateway.errors import ConfigurationError, FileError, FilesError


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "config.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def loaded(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> Loaded:
    return load(write(folder, text), environ or {})


def faults(folder: Path, text: str | bytes, environ: Mapping[str, str] | None = None) -> list[str]:
    """The faults of a file as a person reads them, without the folder."""
    path = write(folder, text)
    with pytest.raises(FileError) as caught:
        load(path, environ or {})
    return str(caught.value).replace(f"{folder}/", "").splitlines()


FAULTS = {
    "auth: {enabledd: true}": "config.yaml:1:1: unknown key `auth`; write `identity`",
    "servers: {a: {commandd: [python]}}": (
        "config.yaml:1:15: unknown key `commandd`; did you mean `command`?"
    ),
    "servers: {a: {url: 'http://h/mcp', type: htt}}": (
        "config.yaml:1:42: `servers.a.type` is `htt`; it should be `stdio`, `http` or "
        "`streamable-http`; did you mean `http`?"
    ),
    "servers: {a: {command: x, url: 'http://h'}}": (
        "config.yaml:1:14: `servers.a` has `command` and `url`; one of them is enough"
    ),
    "polices: []": "config.yaml:1:1: unknown key `polices`; did you mean `policies`?",
    "servers: {a: {command: x}, a: {command: y}}": (
        "config.yaml:1:28: duplicate key `a`; it stands in line 1 already"
    ),
    "servers: {a: {timeout_s: '10x'}}": (
        "config.yaml:1:15: unknown key `timeout_s`; did you mean `timeout`?"
    ),
    "servers: {a: {command: x, timeout: 10x}}": (
        "config.yaml:1:36: `servers.a.timeout` is not a duration; write it with a unit, such as "
        "`250ms`, `30s`, `5m` or `1h`"
    ),
    "- servers": "config.yaml:1:1: a map of keys is expected at the top; write `key: value`",
    "": "config.yaml:1:1: nothing in it; write `key: value`",
    "servers:\n\ta: 1": "config.yaml:2:1: tab for indentation; use spaces",
    "mcpServers: {a: {command: x}}": "config.yaml:1:1: unknown key `mcpServers`; write `servers`",
    "identity: null": "config.yaml:1:11: `identity` has to be a map of keys",
    "identity: off": "config.yaml:1:11: `identity` has to be a map of keys",
    "identity: {api_key: []}": (
        "config.yaml:1:12: unknown key `api_key`; did you mean `api_keys`?"
    ),
    "servers: {a: {url: 'http://h', type: sse}}": (
        "config.yaml:1:38: `servers.a.type` is `sse`, a withdrawn transport; use the server's "
        "Streamable HTTP `url`"
    ),
    "servers: {a: {command: x, args: y}}": (
        "config.yaml:1:33: `servers.a.args` has to be a list, such as `[a, b]`"
    ),
    "listen: {address: 8700}": "config.yaml:1:19: `listen.address` has to be a text",
    "servers: {a.b: {command: x}}": (
        "config.yaml:1:16: `servers.a.b` is not a server name; use at most 40 letters, digits, "
        "`-` and `_`, such as `a-b`"
    ),
    "servers: {a: {command: '${env:X}'}}": (
        "config.yaml:1:24: `servers.a.command`: write `${X}` instead of `${env:X}`"
    ),
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.items(), ids=range(len(FAULTS)))
def test_a_fault_is_reported_with_its_place_and_the_nearest_right_key(
    tmp_path: Path, text: str, fault: str
) -> None:
    """case: CFG-01"""
    assert faults(tmp_path, text) == [fault]


def test_all_faults_of_a_file_are_reported_at_once_and_in_order(tmp_path: Path) -> None:
    """case: CFG-01"""
    text = """\
servers:
  a: {comand: x}
  b: {command: x, env: {K: "${NOT_CLOSED"}}
listen: {addres: x}
store: ${NOT_SET}
auth: {}
limits: {call_timeout: 5}
"""
    lines = faults(tmp_path, text)
    assert [line.split(": ", 1)[0] for line in lines] == [
        "config.yaml:2:7",
        "config.yaml:3:28",
        "config.yaml:4:10",
        "config.yaml:5:8",
        "config.yaml:6:1",
        "config.yaml:7:24",
    ]


def test_a_byte_order_mark_is_accepted_and_other_encodings_are_named(tmp_path: Path) -> None:
    """case: CFG-01"""
    assert load(write(tmp_path, b"\xef\xbb\xbfruns: {}"), {}).settings.servers == {}
    utf16 = "servers: {}".encode("utf-16")
    assert faults(tmp_path, utf16) == ["config.yaml:1:1: UTF-16; save it as UTF-8"]
    latin = b"x-note: fine\nx-other: caf\xe9"
    assert faults(tmp_path, latin) == ["config.yaml:2:13: not UTF-8; save it as UTF-8"]


def test_a_missing_or_unreadable_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file; make one"):
        load(tmp_path / "none.yaml", {})
    with pytest.raises(FileError, match="can't be read"):
        load(tmp_path, {})


def test_keys_that_begin_with_x_are_left_alone_wherever_keys_are_known(tmp_path: Path) -> None:
    text = """\
x-note: {anything: "${NOT_SET}"}
servers:
  a:
    url: https://h.example/mcp
    x-owner: team
    headers: {x-api-key: "${K}"}
"""
    settings = loaded(tmp_path, text, {"K": "secret-value"}).settings
    assert settings.servers["a"].headers == {"x-api-key": "secret-value"}


def test_a_server_with_an_unset_variable_is_kept_as_misconfigured_and_the_others_run(
    tmp_path: Path,
) -> None:
    """case: CFG-03"""
    text = """\
servers:
  a:
    url: https://${HOST}/mcp
    headers: {Authorization: "Bearer ${NOT_SET}", X-Other: "${SET}"}
  b: {command: x, args: ["${NOT_SET}"], env: {A: "${SET}", B: "${NOT_SET:-}"}}
  c: {command: x, env: {A: "${SET}", B: "${NOT_SET:-}"}}
  d: {command: x, env: {A: "${EMPTY}"}, disabled: "${NOT_SET}"}
"""
    result = loaded(tmp_path, text, {"SET": "value", "EMPTY": ""})
    servers = result.settings.servers
    assert servers["a"].misconfigured == "HOST is not set, NOT_SET is not set"
    assert servers["a"].headers == {}
    assert servers["b"].misconfigured == "NOT_SET is not set"
    assert (servers["b"].args, servers["b"].env) == ((), {})
    assert servers["c"].misconfigured == ""
    assert servers["c"].env == {"A": "value", "B": ""}
    assert servers["d"].misconfigured == "EMPTY is empty, NOT_SET is not set"
    assert "NOT_SET}" not in repr(servers)
    assert "Bearer " not in repr(servers)
    assert sum("misconfigured" in warning for warning in result.warnings) == 3


def test_a_fault_beside_an_unset_variable_is_still_reported(tmp_path: Path) -> None:
    """case: CFG-03"""
    text = 'servers: {a: {command: x, env: {A: "${NOT_SET}"}, max_calls: 0}}'
    assert [line.split("`")[1] for line in faults(tmp_path, text)] == ["servers.a.max_calls"]


@pytest.mark.parametrize(
    "text",
    [
        'store: "postgresql://gw:${NOT_SET}@db/gw"',
        'identity: {api_keys: [{id: a, hash: "${NOT_SET}", user: u, tenant: t}]}',
        'listen: {address: "${NOT_SET}"}',
        'servers: {a: "${NOT_SET}"}',
    ],
)
def test_an_unset_variable_of_the_gateway_itself_stops_the_start(tmp_path: Path, text: str) -> None:
    """case: CFG-03"""
    mend = "NOT_SET is not set; set it, or give a default as in `${VAR:-default}`"
    assert any(mend in line for line in faults(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "listen: {address: '0.0.0.0:8700'}",
        "listen: {address: '[::]:8700'}",
        "listen: {address: 'gateway:8700'}",
        "listen: {public_url: 'https://tools.example.com/mcp'}",
        "listen: {allowed_hosts: [tools.example.com]}",
    ],
)
def test_an_endpoint_that_others_can_reach_needs_authentication(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.yaml:1:9: `listen` can be reached"):
        loaded(tmp_path, text)
    key = f"{{id: a, hash: 'sha256:{'0' * 64}', user: u, tenant: t}}"
    settings = loaded(tmp_path, f"{text}\nidentity: {{api_keys: [{key}]}}").settings
    assert settings.identity.authenticates


def test_an_admin_listener_that_others_can_reach_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.yaml:1:8: `admin` can be reached"):
        loaded(tmp_path, "admin: {address: '0.0.0.0:8701'}")


def test_an_admin_key_that_would_do_nothing_is_not_taken(tmp_path: Path) -> None:
    key = "allowed_origins: ['http://127.0.0.1:8701']"
    assert "unknown key" in faults(tmp_path, f"admin: {{{key}}}")[0]


@pytest.mark.parametrize(
    "entry",
    [
        "{url: 'https://h/mcp', passthrough: true}",
        "{url: 'https://h/mcp', pass_headers: [Authorization]}",
        "{url: 'https://h/mcp', forward_authorization: true}",
        "{url: 'https://h/mcp', headers: {Authorization: 'Bearer ${caller.token}'}}",
        "{url: 'https://h/mcp', headers: {Authorization: '${request.headers.authorization}'}}",
    ],
)
def test_no_setting_can_pass_the_callers_credential_on(tmp_path: Path, entry: str) -> None:
    """case: AUT-04"""
    (line,) = faults(tmp_path, f"servers: {{a: {entry}}}")
    assert "credential is never passed on" in line or "names no environment variable" in line


def test_what_must_not_show_up_is_told_with_the_settings(tmp_path: Path) -> None:
    text = """\
servers:
  a: {url: "https://h.example/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}
  b: {command: x, env: {B_KEY: literal-key-value, LEVEL: "${LEVEL}", REGION: "eu-central-1"}}
listen: {address: "127.0.0.1:${PORT}"}
store: postgresql://gw:pass%2Fword1@db/gw
"""
    environ = {"TOKEN": "tok-abcdef-123456", "LEVEL": "info", "PORT": "8700"}
    result = loaded(tmp_path, text, environ)
    assert set(result.secrets) == {
        "Bearer tok-abcdef-123456",
        "tok-abcdef-123456",
        "literal-key-value",
        "pass%2Fword1",
        "pass/word1",
    }
    assert result.secrets[0] == "Bearer tok-abcdef-123456"


def test_relative_paths_start_in_the_folder_of_the_file(tmp_path: Path) -> None:
    """case: CFG-04"""
    text = """\
servers:
  a: {command: ./bin/my server, cwd: dir with blank}
  b: {command: npx, args: ["C:\\\\dir a\\\\x", "it's", "$HOME", "*", "; touch f", "", "ünï"]}
  c: {url: "https://h.example", tls: {ca: ca.pem}}
  d: {command: ~/bin/x, cwd: /srv}
policies: rules
"""
    settings = loaded(tmp_path, text, {"HOME": "/home/ann"}).settings
    servers = settings.servers
    assert servers["a"].command == str(tmp_path / "bin/my server")
    assert servers["a"].cwd == tmp_path / "dir with blank"
    assert servers["b"].command == "npx"
    assert servers["b"].args == ("C:\\dir a\\x", "it's", "$HOME", "*", "; touch f", "", "ünï")
    assert servers["c"].tls.ca == tmp_path / "ca.pem"
    assert (servers["d"].command, servers["d"].cwd) == ("/home/ann/bin/x", Path("/srv"))
    assert settings.policies == tmp_path / "rules"
    assert settings.store.url == f"sqlite:///{tmp_path}/weighbridge.db"


def test_a_json_file_is_read_too(tmp_path: Path) -> None:
    text = '{"servers": {"a": {"command": "x", "args": ["--n", "1"]}}}'
    assert loaded(tmp_path, text).settings.servers["a"].args == ("--n", "1")


def test_doubtful_settings_are_warned_of(tmp_path: Path) -> None:
    text = "servers: {a: {url: 'http://h.example/', headers: {A: b}, tls: {verify: false}}}"
    assert loaded(tmp_path, text).warnings == (
        "`servers.a`: its headers can be read on the way; use `https://`",
        "`servers.a`: `tls.verify: false` lets anybody pose as this server",
    )


def test_faults_come_as_one_fault_with_many(tmp_path: Path) -> None:
    with pytest.raises(FilesError) as caught:
        loaded(tmp_path, "a: 1\nb: 2")
    assert [fault.line for fault in caught.value.errors] == [1, 2]


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    assert "is it the right file?" in faults(tmp_path, b"#" * ((1 << 20) + 1))[0]


def test_a_value_from_the_environment_is_named_and_not_shown(tmp_path: Path) -> None:
    """case: CFG-03"""
    text = """\
servers:
  a:
    command: x
    protocol: ${MODE}
    timeout: ${WAIT}
contracts: {unreviewed: "${MODE:-refuse}"}
"""
    found = faults(tmp_path, text, {"MODE": "hunter2-canary", "WAIT": "canary parsecs"})
    assert len(found) == 3
    assert "`${MODE}`" in found[0]
    assert "`${MODE:-refuse}`" in found[2]
    assert not [line for line in found if "canary" in line]
    folder = faults(tmp_path, "policies: /p/${FOLDER}", {"FOLDER": "canary"})
    assert folder == [
        "config.yaml:1:11: `policies` is `/p/${FOLDER}`, and there is no such folder; make it, "
        "or set it"
    ]


def test_an_entry_knows_what_may_be_shown_of_its_command(tmp_path: Path) -> None:
    text = "servers: {a: {command: '${CMD}', cwd: ., args: ['${CMD}']}}"
    entry = loaded(tmp_path, text, {"CMD": "canary"}).settings.servers["a"]
    assert (entry.command, entry.written) == ("canary", {"command": "${CMD}"})


def env_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "secrets.env"
    path.write_text(text)
    path.chmod(mode)
    return path


SERVER = "env_file: secrets.env\nservers: {a: {command: x, env: {T: '${T}', U: '${U}', V: '${V}'}}}"


def test_values_of_the_env_file_come_before_those_of_the_environment(tmp_path: Path) -> None:
    env_file(tmp_path, "T=hunter2-from-file\nU=\n")
    found = loaded(tmp_path, SERVER, {"T": "shell", "U": "u-shell", "V": "v-shell"})
    entry = found.settings.servers["a"]
    assert entry.env == {"T": "hunter2-from-file", "U": "u-shell", "V": "v-shell"}
    assert "hunter2-from-file" in found.secrets
    assert (found.settings.env_file, found.warnings) == (tmp_path / "secrets.env", ())


def test_an_env_file_that_others_can_read_is_warned_of(tmp_path: Path) -> None:
    env_file(tmp_path, "T=1", 0o640)
    found = loaded(tmp_path, "env_file: secrets.env\nservers: {a: {command: x}}")
    assert found.warnings == (
        "`secrets.env` holds secrets and can be read by others; `chmod 600` it",
    )


def test_faults_of_an_env_file_have_their_place_there(tmp_path: Path) -> None:
    assert faults(tmp_path, SERVER) == [
        "config.yaml:1:11: `env_file` is `secrets.env`, and there is no such file; make it, or "
        "remove the key"
    ]
    env_file(tmp_path, "T=1\nhunter2\n")
    assert faults(tmp_path, SERVER) == [
        "secrets.env:2:1: is no line of a file of variables; write `NAME=value`"
    ]
    assert "`env_file`" in faults(tmp_path, "env_file: [1]")[0]
