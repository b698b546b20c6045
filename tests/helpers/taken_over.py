"""A folder with a client's file, and `weighbridge init` over it, in this process."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gateway.cli.main import main
from tests.helpers.fake_server import Script, stdio_command, tool


@dataclass(frozen=True)
class Project:
    """A project folder, a home, and the file of a client in one of them."""

    folder: Path
    name: str = ".mcp.json"
    environ: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def file(self) -> Path:
        """The client's file."""
        return self.folder / self.name

    @property
    def home(self) -> Path:
        """A home without a client in it, unless a test puts one there."""
        return self.folder / "home"

    def write(self, content: Any, section: str = "mcpServers") -> bytes:
        """Write servers, or a text as it stands, and return the bytes of the file."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps({section: content}, indent=2)
        self.file.write_bytes(text.encode())
        return self.file.read_bytes()

    def server(self, *tools: str) -> dict[str, Any]:
        """Return an entry that starts a server with some tools."""
        script = Script(tools=[tool(each) for each in tools])
        command, *args = stdio_command(script, self.folder, "-".join(tools))
        return {"command": command, "args": args}

    def init(self, *words: str, asked: str | None = None) -> Result:
        """Run `init` about the file, with the folder as the place for what it makes."""
        named = () if "--undo" in words else ("--from", str(self.file))
        return self.run("init", *named, "--dir", str(self.folder), *words, asked=asked)

    def run(self, *words: str, asked: str | None = None) -> Result:
        """Run a command as a person types it."""
        environ = {
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": None,
            "CODEX_HOME": None,
            "XDG_CONFIG_HOME": None,
            **self.environ,
        }
        return CliRunner().invoke(main, list(words), env=environ, input=asked)

    def made(self) -> Sequence[str]:
        """Return the names of what `init` makes, as far as it is there."""
        names = ("config.yaml", "weighbridge.env", "policies", ".weighbridge-init.json")
        hidden = [each.name for each in self.folder.glob(".weighbridge-init-*")]
        copies = [each.name for each in self.file.parent.glob("*.before-weighbridge*")]
        return [each for each in names if (self.folder / each).exists()] + hidden + copies
