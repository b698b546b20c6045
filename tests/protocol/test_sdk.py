"""Two threads that need the SDK at the same time both get it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gateway

# One begins with what the front needs; the other asks for the reader of templates once the package
# is being imported and before it has come to that, as a list with a template in it does.
TWO = """
import sys, threading, time
from gateway.protocol import sdk

failed = []

def load(module, when):
    while not when():
        time.sleep(0.0005)
    try:
        sdk.load(module)
    except BaseException as error:
        failed.append(error)

READER = "mcp.shared.uri_template"
threads = [
    threading.Thread(target=load, args=("gateway.listen.{front}", lambda: True)),
    threading.Thread(target=load, args=(READER, lambda: "mcp.client" in sys.modules)),
]
for each in threads:
    each.start()
for each in threads:
    each.join(60)
print(failed, READER in sys.modules, "gateway.listen.{front}" in sys.modules)
"""


@pytest.mark.parametrize("front", ["stdio", "sessions"])
def test_who_comes_in_between_waits_for_the_other(front: str) -> None:
    code = TWO.format(front=front)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[] True True", done.stdout


def test_whoever_imports_the_sdk_late_takes_turns() -> None:
    root = Path(gateway.__file__).parent
    late = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for each in ast.walk(function)
        if isinstance(each, ast.ImportFrom) and (each.module or "").split(".")[0] in SDK
    }
    assert late == {"servers/templates.py"}
    for path in (*late, "listen/handshaking.py", "cli/stdio.py"):
        assert "sdk.load" in (root / path).read_text()


SDK = {"mcp", "mcp_types"}
