"""`weighbridge events keys`."""

import stat
from pathlib import Path

from gateway.cli import output
from gateway.events import notes
from gateway.store import key_files
from tests.cli.test_verify import place as place  # noqa: PLC0414 - a fixture
from tests.helpers.workspaces import Workspace, a_workspace

NAME = "log.example/a"


def test_a_new_key_is_private_and_its_public_half_is_shown(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    file = tmp_path / "keys" / "log.key"
    done = place.run("events", "keys", "new", "--origin", NAME, "--file", str(file))
    assert done.exit_code == 0, done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert str(key_files.read(file).key) in done.stdout
    assert key_files.read(file).secret() not in done.stdout
    again = place.run("events", "keys", "new", "--origin", NAME, "--file", str(file))
    assert again.exit_code == output.EXIT_USAGE
    assert "is there already" in again.stderr


def test_the_configuration_says_where_and_for_which_log(tmp_path: Path) -> None:
    file = str(tmp_path / "log.key")
    place = a_workspace(tmp_path, events={"checkpoints": {"key": file, "origin": NAME}})
    assert place.run("events", "keys", "new").exit_code == 0
    code, document = place.json("events", "keys", "show")
    assert (code, document["file"]) == (0, file)
    assert [notes.key_of(key).name for key in document["keys"]] == [NAME]


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    assert "name the log" in place.run("events", "keys", "new").stderr
    assert "name the log" in place.run("events", "keys", "new", "--origin", "a b").stderr
    assert "there is no key" in place.run("events", "keys", "show").stderr
    assert "there is no key" in place.run("events", "keys", "rotate").stderr
    place.config.write_text("store: postgresql://nobody@127.0.0.1:1/none\n")
    assert "name the file" in place.run("events", "keys", "new", "--origin", NAME).stderr
    assert "`events.checkpoints.key` is not set" in place.run("events", "keys", "show").stderr


def test_a_rotated_key_takes_over_and_the_log_stays_whole(place: Workspace) -> None:
    path = place.folder / "store.db.checkpoints.key"
    old = key_files.read(path).key
    done = place.run("events", "keys", "rotate", "--by", "ada")
    assert done.exit_code == 0, done.stderr
    new = key_files.read(path).key
    assert new != old
    note = notes.parse(done.stdout.split("\n", 2)[2])
    assert note.signed_by([old, new]) == (old, new)
    shown = place.run("events", "keys", "show").stdout.splitlines()
    assert shown == [str(new), f"{old}  (replaced)"]
    for keys in ((), ("--key", str(old))):
        checked = place.run("events", "verify", *keys)
        assert checked.exit_code == 0, checked.stdout
    events = place.run("events", "query", "--json", "--kind", "admin").stdout
    assert '"action":"checkpoint_key_rotated"' in events
    assert '"by":"ada"' in events


def test_programs_are_told_which_keys_there_are_now_and_no_secret(place: Workspace) -> None:
    file = place.folder / "store.db.checkpoints.key"
    code, told = place.json("events", "keys", "rotate", "--json")
    key = key_files.read(file).key
    assert (code, told["file"], told["key"]) == (0, str(file), str(key))
    assert notes.parse(told["checkpoint"]["note"]).signed_by([key]) == (key,)
    new = place.folder / "new.key"
    code, told = place.json("events", "keys", "new", "--origin", NAME, "--file", str(new), "--json")
    assert (code, told) == (0, {"file": str(new), "key": str(key_files.read(new).key)})
    seal = place.folder / "seal.key"
    told = place.json("events", "keys", "seal", "--file", str(seal), "--json")
    assert told == (0, {"file": str(seal)})


def test_a_key_for_sealed_copies_is_made_once(tmp_path: Path) -> None:
    place = a_workspace(tmp_path)
    done = place.run("events", "keys", "seal")
    file = tmp_path / "store.db.sealing.key"
    assert (done.exit_code, str(file) in done.stdout) == (0, True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().strip() not in done.stdout
    again = place.run("events", "keys", "seal")
    assert (again.exit_code, "is there already" in again.stderr) == (output.EXIT_USAGE, True)
    other = tmp_path / "other.key"
    assert place.run("events", "keys", "seal", "--file", str(other)).exit_code == 0
    text = place.config.read_text().replace(place.store_url, "postgresql://nowhere/none")
    place.config.write_text(text)
    assert "name the file of the key" in place.run("events", "keys", "seal").stderr


def test_what_keeps_the_new_key_from_its_place_is_found_before_the_log_has_it(
    place: Workspace,
) -> None:
    listed = place.folder / "store.db.checkpoints.key.pub"
    before = sorted(each.name for each in place.folder.iterdir())
    known = listed.read_text()
    listed.write_text("junk\n")
    done = place.run("events", "keys", "rotate")
    assert done.exit_code == output.EXIT_USAGE
    assert "a public key reads `name+id+base64`" in done.stderr
    listed.write_text(known)
    assert sorted(each.name for each in place.folder.iterdir()) == before
    assert "checkpoint_key_rotated" not in place.run("events", "query", "--all", "--json").stdout
    assert place.run("events", "verify").exit_code == 0
