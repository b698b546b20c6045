import pytest

from gateway.identity import metadata


@pytest.mark.parametrize(
    ("resource", "url"),
    [
        ("https://h.example/mcp", "https://h.example/.well-known/oauth-protected-resource/mcp"),
        ("https://h.example/a/b", "https://h.example/.well-known/oauth-protected-resource/a/b"),
        ("https://h.example/", "https://h.example/.well-known/oauth-protected-resource"),
        ("http://[::1]:8700", "http://[::1]:8700/.well-known/oauth-protected-resource"),
    ],
)
def test_the_path_of_the_resource_goes_behind_the_well_known_one(resource: str, url: str) -> None:
    assert metadata.url(resource) == url


def test_the_document_is_served_with_the_path_and_at_the_root() -> None:
    root = "/.well-known/oauth-protected-resource"
    assert metadata.paths("/mcp") == (f"{root}/mcp", root)
    assert metadata.paths("/") == (root,)


def test_without_issuers_no_authorization_server_is_named() -> None:
    document = metadata.document(resource="https://h.example/mcp", issuers=(), scopes=())
    assert set(document) == {"resource", "resource_name", "bearer_methods_supported"}


def test_one_challenge_names_all_scopes_that_a_call_needs() -> None:
    """case: AUT-05"""
    refused = metadata.insufficient_scope(["b", "a", "b"], resource="https://h.example/mcp")
    assert refused.www_authenticate() == (
        'Bearer error="insufficient_scope", error_description="this call needs the scope a b", '
        'scope="a b", '
        'resource_metadata="https://h.example/.well-known/oauth-protected-resource/mcp"'
    )
