"""How others are started: plain proxies, Envoy's MCP router, and gateways from PyPI."""

import json
from pathlib import Path

from bench.envs import program

_HERE = Path(__file__).resolve().parent
_NGINX = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  keepalive_requests 100000000;
  upstream bench {{
    server 127.0.0.1:{backend};
    keepalive 64;
    keepalive_requests 100000000;
  }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 8m;
    client_body_buffer_size 256k;
    location / {{
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffers 16 64k;
    }}
  }}
}}
"""


def nginx(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    """A plain reverse proxy: one worker, kept connections on both sides."""
    config = folder / "nginx.conf"
    config.write_text(_NGINX.format(folder=folder, port=port, backend=backend))
    return [str(program("nginx")), "-c", str(config), "-p", str(folder)], ""


def envoy(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    """Envoy as a router of two MCP servers, with RBAC in between: one thread."""
    kind = "type.googleapis.com/envoy.extensions.filters."
    servers = ("bench", "other")
    anybody = {"permissions": [{"any": True}], "principals": [{"any": True}]}
    filters = {
        "mcp": {"@type": f"{kind}http.mcp.v3.Mcp"},
        "rbac": {
            "@type": f"{kind}http.rbac.v3.RBAC",
            "rules": {"action": "ALLOW", "policies": {"all": anybody}},
        },
        "mcp_router": {
            "@type": f"{kind}http.mcp_router.v3.McpRouter",
            "servers": [
                {"name": name, "mcp_cluster": {"cluster": name, "path": "/mcp"}} for name in servers
            ],
        },
    }
    manager = {
        "@type": f"{kind}network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "bench",
        "route_config": {
            "virtual_hosts": [
                {
                    "name": "all",
                    "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "bench"}}],
                }
            ]
        },
        "http_filters": [
            {"name": f"envoy.filters.http.{name}", "typed_config": each}
            for name, each in filters.items()
        ],
    }
    name = "envoy.filters.network.http_connection_manager"
    config = {
        "static_resources": {
            "listeners": [
                {
                    "name": "main",
                    "address": _address(port),
                    "filter_chains": [{"filters": [{"name": name, "typed_config": manager}]}],
                }
            ],
            "clusters": [_cluster(name, backend) for name in servers],
        }
    }
    path = folder / "envoy.json"
    path.write_text(json.dumps(config))
    words = ["-c", str(path), "--concurrency", "1", "-l", "error", "--use-dynamic-base-id"]
    return [str(program("envoy")), *words], ""


def _address(port: int) -> dict:
    return {"socket_address": {"address": "127.0.0.1", "port_value": port}}


def _cluster(name: str, port: int) -> dict:
    endpoint = {"endpoint": {"address": _address(port)}}
    assignment = {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]}
    return {"name": name, "type": "STATIC", "load_assignment": assignment}


def fastmcp(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    """FastMCP's proxy as its documentation shows it."""
    return [str(program("fastmcp")), str(_HERE / "fastmcp_proxy.py"), str(port), str(backend)], ""


def hangar(port: int, backend: int, folder: Path) -> tuple[list[str], str]:
    """MCP Hangar without authentication, its limit of 20 calls at once raised."""
    config = {
        "mcp_servers": {"bench": {"mode": "remote", "endpoint": f"http://127.0.0.1:{backend}/mcp"}},
        "rate_limit": {"rps": 1_000_000, "burst": 1_000_000},
    }
    path = folder / "config.yaml"
    path.write_text(json.dumps(config))
    words = ["serve", "--http", "--port", str(port), "--log-level", "ERROR", "--config", str(path)]
    # It keeps its log where it is started, and reads all of it at the next start.
    there = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(folder)]
    return [*there, str(program("hangar")), *words], ""
