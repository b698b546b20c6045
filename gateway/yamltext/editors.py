"""The line by which editors find the JSON Schema of a file that people write."""

from typing import Final, Literal, TypeAlias

Name: TypeAlias = Literal["config", "contracts", "policy", "policy-test", "runs"]

# What each kind of file is, for lists; the keys are the names that `weighbridge schema` takes.
KINDS: Final[dict[Name, str]] = {
    "config": "the configuration of a gateway",
    "contracts": "contracts of tools, below `policies/contracts`",
    "policy": "rules, directly below `policies`",
    "policy-test": "tests of a policy, below `policies/tests`",
    "runs": "templates of runs, below `policies/runs`",
}
# The project's repository, as in pyproject.toml; a URL works from wherever a file is moved to.
BASE: Final = (
    "https://raw.githubusercontent.com/weighbridge/weighbridge/main/docs/reference/schemas/"
)


def url(name: Name) -> str:
    """Return where the schema of a kind of file is published."""
    return f"{BASE}{name}.json"


def schema_line(name: Name) -> str:
    """Return the first line of such a file, with its line end."""
    return f"# yaml-language-server: $schema={url(name)}\n"
