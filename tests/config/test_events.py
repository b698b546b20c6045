from pathlib import Path

import pytest

from gateway.config.load import load
from gateway.config.settings import Settings
from gateway.errors import FileError

SECRET = f"whsec_{'a' * 40}"


def loaded(folder: Path, text: str) -> Settings:
    file = folder / "config.yaml"
    file.write_text(text)
    return load(file, {"HOME": "/home/sam", "SECRET": SECRET}).settings


def told(folder: Path, text: str) -> str:
    with pytest.raises(FileError) as caught:
        loaded(folder, text)
    return str(caught.value)


def test_without_a_section_a_checkpoint_is_made_each_minute_or_thousand_events(
    tmp_path: Path,
) -> None:
    found = loaded(tmp_path, "servers: {}\n").events.checkpoints
    assert (found.key, found.origin, found.every, found.events, found.to) == (
        *(None, None, 60.0, 1000),
        (),
    )


def test_paths_start_beside_the_file_and_copies_have_names(tmp_path: Path) -> None:
    text = (
        "events: {checkpoints: {key: ~/log.key, origin: example.com/log, every: 5m, to: "
        "[{file: copies.jsonl}, {log: true}, {url: 'https://a.example/x', secret: '${SECRET}'}]}}"
    )
    found = loaded(tmp_path, text).events.checkpoints
    assert found.key == Path("/home/sam/log.key")
    assert [each.name for each in found.to] == [
        *(str(tmp_path / "copies.jsonl"), "log", "https://a.example/x")
    ]
    assert [len(each.signing_key) for each in found.to] == [0, 0, 30]


def test_the_secret_of_a_copy_shows_up_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "events: {checkpoints: {to: [{url: 'https://a.example/x', secret: '${SECRET}'}]}}"
    )
    assert SECRET in load(file, {"SECRET": SECRET}).secrets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{to: [{}]}", "needs one of `file`, `log` and `url`"),
        ("{to: [{file: a, log: true}]}", "needs one of `file`, `log` and `url`"),
        ("{to: [{url: 'https://a.example'}]}", "needs a `secret` with a `url`, and only there"),
        (f"{{to: [{{file: a, secret: {SECRET}}}]}}", "needs a `secret` with a `url`"),
        ("{to: [{url: 'http://a.example', secret: a}]}", "has to begin with `https://`"),
        ("{origin: a b}", "is no name of a log"),
        ("{origin: a+b}", "is no name of a log"),
        ("{every: 10ms}", "every"),
        ("{evry: 10s}", "every"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path: Path, text: str, message: str) -> None:
    said = told(tmp_path, f"events:\n  checkpoints: {text}\n")
    assert message in said
    assert "config.yaml:2:" in said
