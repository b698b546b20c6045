from gateway.config.identity import LocalSettings
from gateway.identity.local import local_principal
from gateway.types.calls import AuthMethod


def test_the_configuration_alone_says_who_acts_over_stdio() -> None:
    entry = LocalSettings.model_validate(
        {"user": "ann", "tenant": "acme", "roles": ["clerk"], "scopes": ["crm:read"]}
    )
    who = local_principal(entry)
    assert (who.user, who.tenant, who.method) == ("ann", "acme", AuthMethod.LOCAL)
    assert (who.roles, who.scopes) == ({"clerk"}, {"crm:read"})
