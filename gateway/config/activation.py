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
    tenant: Name | None = Field(
        default=None,
        description="the tenant whose people may agree, for all tenants, and see what is proposed; "
        "default: the only one whose people can log in. Required where there are several",
    )
    roles: Unique[Name] = Field(
        default=frozenset(), description="who of them: those with one of these roles; empty: all"
    )

    @property
    def is_shared(self) -> bool:
        """Whether a file alone changes nothing."""
        return self.people > 1
