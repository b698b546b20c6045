"""A FastMCP proxy as its documentation shows it; runs in an environment of its own."""

import sys

from fastmcp.server import create_proxy

if __name__ == "__main__":
    proxy = create_proxy(f"http://127.0.0.1:{sys.argv[2]}/mcp", name="peer")
    proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), path="/mcp")
