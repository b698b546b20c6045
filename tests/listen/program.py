"""How hosts start the front over stdio."""

import sys
from pathlib import Path

from mcp import StdioServerParameters

PROGRAM = StdioServerParameters(
    command=sys.executable,
    args=["-m", "tests.listen.stdio_program"],
    cwd=Path(__file__).parents[2],
)
