"""The words of MCP, as the SDK has them."""

import mcp_types
from mcp.shared import inbound
from mcp_types import jsonrpc, version

from gateway.protocol import words


def test_the_revisions_are_those_of_the_sdk() -> None:
    assert words.HANDSHAKE_VERSIONS == version.HANDSHAKE_PROTOCOL_VERSIONS
    assert (words.MODERN_VERSION,) == version.MODERN_PROTOCOL_VERSIONS


def test_the_codes_are_those_of_the_sdk() -> None:
    assert words.PARSE_ERROR == jsonrpc.PARSE_ERROR
    assert words.INVALID_REQUEST == jsonrpc.INVALID_REQUEST
    assert words.METHOD_NOT_FOUND == jsonrpc.METHOD_NOT_FOUND
    assert words.INVALID_PARAMS == jsonrpc.INVALID_PARAMS
    assert words.INTERNAL_ERROR == jsonrpc.INTERNAL_ERROR
    assert words.HEADER_MISMATCH == jsonrpc.HEADER_MISMATCH
    assert words.MISSING_CAPABILITY == jsonrpc.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert words.UNSUPPORTED_VERSION == jsonrpc.UNSUPPORTED_PROTOCOL_VERSION


def test_headers_and_keys_are_those_of_the_sdk() -> None:
    assert words.VERSION_HEADER == inbound.MCP_PROTOCOL_VERSION_HEADER
    assert words.METHOD_HEADER == inbound.MCP_METHOD_HEADER
    assert words.NAME_HEADER == inbound.MCP_NAME_HEADER
    assert words.VERSION_KEY == mcp_types.PROTOCOL_VERSION_META_KEY
    assert words.CLIENT_KEY == mcp_types.CLIENT_INFO_META_KEY
    assert words.CAPABILITIES_KEY == mcp_types.CLIENT_CAPABILITIES_META_KEY
    assert words.LOG_LEVEL_KEY == mcp_types.LOG_LEVEL_META_KEY
    assert words.SERVER_KEY == mcp_types.SERVER_INFO_META_KEY
