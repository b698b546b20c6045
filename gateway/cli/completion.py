"""`weighbridge completion`: the lines that make a shell complete commands, options and files."""

from typing import Final

import click
from click.shell_completion import get_completion_class

from gateway.cli import output

_VARIABLE: Final = "_WEIGHBRIDGE_COMPLETE"  # Click answers a shell that sets it
_SHELLS: Final = ("bash", "zsh", "fish")


@click.command("completion", epilog='Example: eval "$(weighbridge completion bash)"')
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print what makes a shell complete commands, options and their values.

    bash, from 4.4 on: eval "$(weighbridge completion bash)" in ~/.bashrc; zsh: the same with zsh in
    ~/.zshrc, after compinit; fish: weighbridge completion fish >
    ~/.config/fish/completions/weighbridge.fish
    """
    made = get_completion_class(shell)
    if made is None:
        output.fail(f"Click knows no `{shell}`")
    try:
        text = made(context.find_root().command, {}, "weighbridge", _VARIABLE).source()
    except RuntimeError as error:  # a bash that is older, or that can't be started
        output.fail(str(error), output.EXIT_FAILED)
    click.echo(text)
