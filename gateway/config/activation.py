"""The `activation` section: how many people stand behind a changed policy folder."""

from pydantic import Field

from gateway.config.identity import Name
from gateway.config.section import Section, Unique


class ActivationSettings(Section):
    """What it takes for a changed policy folder to take force."""

    people: int = Field(
        default=1,
        ge=1,
        le=5,
        description="how many people have to agree; with 1, whoever changes a file. From 2 on a "
        "changed folder is proposed, and takes force once others agree "
        "(docs/how-to/policy-change.md)",
    )
    roles: Unique[Name] = Field(
        default=frozenset(),
        description="roles of the people who may agree, one of them each; without one, everybody "
        "who can log in",
    )

    @property
    def is_shared(self) -> bool:
        """Whether a file alone changes nothing."""
        return self.people > 1
