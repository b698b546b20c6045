"""Where editors find the schema of a file."""

import tomllib
from pathlib import Path

from gateway import yamltext
from gateway.yamltext.editors import KINDS, schema_line, url

ROOT = Path(__file__).resolve().parents[2]


def test_the_line_is_a_comment_that_the_language_server_knows() -> None:
    line = schema_line("config")
    assert line == f"# yaml-language-server: $schema={url('config')}\n"
    assert yamltext.load(f"{line}servers: {{}}\n", file="c.yaml").value == {"servers": {}}


def test_schemas_are_published_in_the_repository_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project["urls"]["Documentation"].partition("/tree/")[0]
    raw = repository.replace("https://github.com/", "https://raw.githubusercontent.com/")
    for name in KINDS:
        assert url(name) == f"{raw}/main/docs/reference/schemas/{name}.json"
