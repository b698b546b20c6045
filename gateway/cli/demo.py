"""`weighbridge demo`: the main job on embedded defaults."""

import click

from gateway.demo import run


@click.command(
    "demo",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
    epilog="Example: weighbridge demo",
)
@click.pass_context
def command(context: click.Context) -> None:
    """Run real tool servers, a gateway and a scripted agent; show each verdict as it falls."""
    raise SystemExit(run.main(context.args))
