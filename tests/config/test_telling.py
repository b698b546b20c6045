import pytest

from gateway.config import telling


@pytest.mark.parametrize(
    "name",
    [
        *("API_KEY", "apiKey", "APIKey", "APIKEY", "X-Api-Key", "ssh_key_2", "KEYS"),
        *("TOKEN", "githubToken", "AUTH_TOKEN_FILE", "TOKENVALUE", "API_TOKENs", "oauth2token"),
        *("MY_SECRET", "clientSecret", "SECRETS", "SECRETKEYBASE"),
        *("PASSWORD", "PGPASSWORD", "PGPassword", "DB_PASSWORD_2", "DBPASS", "SMTP_PASS"),
        *("passwd", "SSH_PASSPHRASE", "MYSQL_PWD", "dbPwd", "GITHUB_PAT", "SERVICE_JWT"),
        *("AUTHORIZATION", "Proxy-Authorization", "X-Auth", "BASICAUTH", "OAUTH2"),
        *("Cookie", "SESSION_ID", "SENTRY_DSN", "AWS_CREDENTIALS", "X-Signature", "MY_CREDS"),
    ],
)
def test_a_name_with_a_telling_word_is_a_credentials(name: str) -> None:
    assert telling.is_credential(name)


@pytest.mark.parametrize(
    "name",
    [
        *("AUTHOR_NAME", "authorName", "AUTHORITY", "KEYCLOAK_URL", "KEYBOARD", "keyspace"),
        *("TOKENIZER_MODEL", "tokenizerModel", "TOKENISER", "SECRETARY_NAME", "SECRETARIAT"),
        *("PWD", "OLDPWD", "PASS_THROUGH_HEADERS", "BYPASS", "GIT_ASKPASS", "PATH", "PATTERN"),
        *("REGION", "HOME", "MODE", "SESSIONIZER", "", "_", "42"),
    ],
)
def test_a_name_that_only_has_such_a_word_inside_of_another_is_not(name: str) -> None:
    assert not telling.is_credential(name)
