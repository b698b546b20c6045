"""Runs the official conformance suite against a backend, and against the gateway before it.

What passes directly has to pass through the gateway; exit code 1 says that something doesn't.
`python -m tests.conformance.run NODE SUITE` with the paths of Node.js and of the suite's script.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from tests.conformance.gateway import free_port, gateway_between

REVISIONS = ("2026-07-28", "2025-11-25")
# The scenarios of a client that are not about OAuth: a gateway is no OAuth client of its servers.
CLIENT_SCENARIOS = {
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
        "sep-2322-client-request-state",
    ),
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ),
}
# `revision side scenario` → why a check that passes directly is not to pass through the gateway.
EXPECTED: dict[str, str] = {
    "2026-07-28 client http-custom-headers": "the suite calls a tool with `verbose: null`, which "
    "the tool's own schema forbids; the gateway refuses such a call",
}
# The same, for checks that are left out rather than failed.
FEWER: dict[str, str] = {
    "2025-11-25 server server-sse-polling": "the gateway fetches the rest of the server's stream "
    "itself and keeps its own open: there is no break to resume after",
    "2025-11-25 server server-sse-multiple-streams": "the gateway answers as JSON where nothing "
    "comes before the answer, and the check of the streams leaves such servers out",
    "2026-07-28 client request-metadata": "without a tool there is no call that could carry the "
    "caller's capabilities; the gateway declares none of its own",
}
_LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)
_WITHIN_S = 240


@dataclass
class Outcome:
    """Checks passed and failed, by scenario."""

    scenarios: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    @property
    def total(self) -> str:
        """How many scenarios passed whole, and how many checks."""
        whole = sum(not failed for _, failed in self.scenarios.values())
        checks = sum(passed for passed, _ in self.scenarios.values())
        return f"{whole}/{len(self.scenarios)} scenarios, {checks} checks"


def server_side(suite: list[str], url: str, revision: str) -> Outcome:
    """Run every scenario that is about a server."""
    with tempfile.TemporaryDirectory() as out:
        command = [*suite, "server", "--url", url, "--suite", "all"]
        command += ["--spec-version", revision, "-o", out]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_WITHIN_S, check=False
        )
    found = {name: (int(good), int(bad)) for name, good, bad in _LINE.findall(done.stdout)}
    if not found:
        sys.exit(f"the suite said nothing about {url}:\n{done.stdout}{done.stderr}")
    return Outcome(found)


def client_side(suite: list[str], revision: str, *, between: bool) -> Outcome:
    """Run the scenarios that are about a client, with the gateway in between or without."""
    found: dict[str, tuple[int, int]] = {}
    environment = {**os.environ, "WEIGHBRIDGE_BETWEEN": str(int(between))}
    for scenario in CLIENT_SCENARIOS[revision]:
        with tempfile.TemporaryDirectory() as out:
            command = [
                *suite,
                "client",
                "--command",
                f"{sys.executable} -m tests.conformance.client",
            ]
            command += ["--scenario", scenario, "--spec-version", revision, "-o", out]
            subprocess.run(
                command, env=environment, capture_output=True, timeout=_WITHIN_S, check=False
            )
            found[scenario] = _counted(Path(out))
    return Outcome(found)


def _counted(out: Path) -> tuple[int, int]:
    checks = [check for file in out.rglob("checks.json") for check in json.loads(file.read_text())]
    states = [check["status"] for check in checks]
    return states.count("SUCCESS"), states.count("FAILURE") + (not states)


def compared(revision: str, side: str, direct: Outcome, through: Outcome) -> list[str]:
    """Return the scenarios that do worse through the gateway, unless it is known why."""
    print(f"{revision} {side}: direct {direct.total}; through the gateway {through.total}")
    lost: list[str] = []
    for scenario, (passed, failed) in direct.scenarios.items():
        good, bad = through.scenarios.get(scenario, (0, 1))
        key = f"{revision} {side} {scenario}"
        why = EXPECTED.get(key) or FEWER.get(key, "")
        if failed or bad or good < passed:
            print(f"  {scenario}: direct {passed}+{failed}, through {good}+{bad}; {why}")
        if (key in EXPECTED) != (bad > failed) or (good < passed and not why):
            lost.append(f"{key}: {why or 'not explained'}")
    return lost


async def main() -> None:
    """Run both sides of both revisions."""
    suite, lost = sys.argv[1:3], list[str]()
    port = free_port()
    backend = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "tests.conformance.backend", str(port)],
        stderr=subprocess.DEVNULL,
    )
    url = f"http://localhost:{port}/mcp"
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with gateway_between(url, Path(folder)) as between:
                for revision in REVISIONS:
                    direct = await anyio.to_thread.run_sync(server_side, suite, url, revision)
                    through = await anyio.to_thread.run_sync(server_side, suite, between, revision)
                    lost += compared(revision, "server", direct, through)
    finally:
        backend.terminate()
        backend.wait(10)
    for revision in REVISIONS:
        direct = client_side(suite, revision, between=False)
        through = client_side(suite, revision, between=True)
        lost += compared(revision, "client", direct, through)
    if lost:
        sys.exit("passes directly and not through the gateway:\n  " + "\n  ".join(lost))
    print("everything that passes directly passes through the gateway")


if __name__ == "__main__":
    anyio.run(main)
