"""The groups of commands: for each command its place and its first sentence, and no import.

A group's help and the completion of its words come from these tables alone.
"""

from collections.abc import Mapping
from typing import Final

import click

from gateway.cli import output
from gateway.cli.flags import json_option
from gateway.cli.late import LateGroup, Table

_TOOLS: Final[Table] = {
    "list": (
        "gateway.cli.tools:list_tools",
        "Show every tool with its exposed name and whether it is reviewed.",
    ),
    "pin": (
        "gateway.cli.tools:pin_tools",
        "Draft contracts for new tools; NAMES renews the pins of reviewed ones that changed.",
    ),
    "diff": (
        "gateway.cli.tools:diff_tools",
        "Show what servers changed since their tools were reviewed, descriptions included.",
    ),
    "review": (
        "gateway.cli.review:review_tools",
        "Walk drafts and changed definitions one by one: accept, change, skip.",
    ),
}
_RESOURCES: Final[Table] = {
    "list": (
        "gateway.cli.resources:list_resources",
        "Show every resource and template: its URI in policies, its server, and its URI for "
        "agents.",
    ),
}
_PROMPTS: Final[Table] = {
    "list": (
        "gateway.cli.prompts:list_prompts",
        "Show every prompt: its name in policies, its name for agents, and its arguments.",
    ),
}
_POLICY: Final[Table] = {
    "lint": (
        "gateway.cli.policy:lint",
        "Check rules, contracts and tests without running anything.",
    ),
    "test": (
        "gateway.cli.policy:test",
        "Run the policy's unit tests through all the checks that calls go through.",
    ),
    "explain": (
        "gateway.cli.explain",
        "Judge one request that nobody makes, and show the word of every check and rule about it.",
    ),
    "diff": (
        "gateway.cli.difference",
        "Say who gains or loses what between two policies: OLD and NEW, wider first.",
    ),
    "shadow": (
        "gateway.cli.shadow",
        "Count from the log what rules in shadow mode would have decided, rule by rule.",
    ),
    "suggest": (
        "gateway.cli.suggest",
        "Draft rules from the allowed calls of a time: who used what, and how far.",
    ),
    "history": (
        "gateway.cli.history:history",
        "List what was put in force and what was refused, newest first, with what it changed.",
    ),
    "show": (
        "gateway.cli.history:show",
        "Show a revision that the store keeps, by its id or the beginning of it: its files whole.",
    ),
    "proposals": (
        "gateway.cli.agreeing:proposals",
        "List changes of the policy that wait for people, and what became of earlier ones.",
    ),
    "propose": (
        "gateway.cli.agreeing:propose",
        "Propose the policy folder, and agree with it, as the one who made the change.",
    ),
    "activate": (
        "gateway.cli.agreeing:activate",
        "Agree with a proposed change: with exactly the revision of this digest.",
    ),
    "reject": (
        "gateway.cli.agreeing:reject",
        "Turn a proposed change down; the files stay as they are, and are not in force.",
    ),
}
_APPROVALS: Final[Table] = {
    "list": ("gateway.cli.approvals:list_approvals", "Show requests, the newest first."),
    "show": ("gateway.cli.approvals:show", "Show one request whole."),
    "approve": ("gateway.cli.decide:approve", "Say yes to exactly the call that is shown."),
    "deny": (
        "gateway.cli.decide:deny",
        "Say no, or take an approval back that is not used yet.",
    ),
    "withdraw": (
        "gateway.cli.decide:withdraw",
        "Take an own vote back, while nothing is decided.",
    ),
    "cancel": ("gateway.cli.decide:cancel", "End a request without a decision."),
    "reopen": ("gateway.cli.decide:reopen", "Let a denied call be asked about again."),
}
_RUNS: Final[Table] = {
    "list": ("gateway.cli.runs:list_runs", "Show runs, the newest first."),
    "show": (
        "gateway.cli.runs:show",
        "Show one run whole: what it is for, what it collected and did, and what to do about it.",
    ),
    "pause": (
        "gateway.cli.runs:pause",
        "Let a run change nothing until it is resumed; what is under way goes on to its end.",
    ),
    "resume": (
        "gateway.cli.runs:resume",
        "Go on with a run that was paused, stopped as blocked, given up or handed over.",
    ),
    "handoff": (
        "gateway.cli.runs:handoff",
        "Take a run out of its agent's hands, and show what whoever takes over has to know.",
    ),
    "compensate": (
        "gateway.cli.runs:undo",
        "Show how what a run did can be undone, the last first; with --execute, have it done.",
    ),
}
_OPS: Final[Table] = {
    "list": (
        "gateway.cli.ops:list_operations",
        "Show operations, the newest first; those of which nobody knows stand above them.",
    ),
    "show": (
        "gateway.cli.ops:show",
        "Show one operation whole: what was asked, what became of it, and what can be done now.",
    ),
    "resolve": (
        "gateway.cli.ops:resolve",
        "Settle an operation of which nobody knows whether it took effect.",
    ),
    "compensate": (
        "gateway.cli.compensate",
        "Show how operations can be undone, the last one first; with --execute, have it done.",
    ),
}
_ADMIN: Final[Table] = {
    "login": (
        "gateway.cli.admin:login",
        "Print a link that logs one account in, once, within 10 minutes.",
    ),
}
_KEYS: Final[Table] = {
    "new": (
        "gateway.cli.keys:new",
        "Make a key: the key itself for the agent host, and the entry for `identity.api_keys`.",
    ),
}
_EVENTS: Final[Table] = {
    "query": (
        "gateway.cli.events:query",
        "Find events by what they say; each filter may be given several times, and any fits.",
    ),
    "tail": (
        "gateway.cli.events:tail",
        "Follow the log, until interrupted; filters as those of `query`.",
    ),
    "ask": (
        "gateway.cli.groups:ask",
        "Answer a question that auditors ask; without one, list them.",
    ),
    "verify": (
        "gateway.cli.verify",
        "Check every event against every checkpoint, and say which events each covers.",
    ),
    "prove": (
        "gateway.cli.prove",
        "Prove that an event is in the log, or that the log only grew.",
    ),
    "export": (
        "gateway.cli.export",
        "Write events for others: with proofs that anybody can check, or as their systems read "
        "them.",
    ),
    "archive": (
        "gateway.cli.archive",
        "Verify the log, seal its oldest events in a file, and then remove them from the store.",
    ),
    "hold": (
        "gateway.cli.groups:hold",
        "Keep events of a tenant or a run from being archived, as a legal hold asks for.",
    ),
    "keys": (
        "gateway.cli.groups:log_keys",
        "Make, show and replace the key that signs checkpoints; make the one that seals.",
    ),
    "unseal": (
        "gateway.cli.unseal",
        "Print the arguments of a call as they were, secrets included.",
    ),
    "shred": ("gateway.cli.shred", "Destroy sealed arguments and their keys for good."),
}
_ASK: Final[Table] = {
    "decided": (
        "gateway.cli.ask:decided",
        "Which calls were denied or approved, by which rule or by whom, and why.",
    ),
    "reviews": (
        "gateway.cli.ask:reviews",
        "Who approved or denied what for whom, and whether it was another person.",
    ),
    "shown": (
        "gateway.cli.ask:shown",
        "What the approver saw: the document as it was sealed when the request was made.",
    ),
    "who-could": (
        "gateway.cli.ask_policy:who_could",
        "Who could call a tool on a day, by the rules in force then, and who did.",
    ),
    "rule-changes": (
        "gateway.cli.ask_policy:rule_changes",
        "Every change of a rule, from the revisions that were in force, with the difference.",
    ),
    "policy-changes": (
        "gateway.cli.ask_policy:policy_changes",
        "Every change of the policy: tests that passed, what it widened, which files, how.",
    ),
    "readers": (
        "gateway.cli.ask:readers",
        "Who read the log, by which command or page, and what was asked for.",
    ),
    "complete": (
        "gateway.cli.ask:complete",
        "Whether the log is complete: nothing removed, changed or added since a checkpoint.",
    ),
}
_HOLD: Final[Table] = {
    "add": ("gateway.cli.holds:add", "Have events stay."),
    "list": ("gateway.cli.holds:list_holds", "Show what is on hold."),
    "remove": ("gateway.cli.holds:remove", "Let events go again."),
}
_LOG_KEYS: Final[Table] = {
    "new": (
        "gateway.cli.log_keys:new",
        "Make a key in a private file; what is there is never replaced.",
    ),
    "seal": (
        "gateway.cli.log_keys:seal",
        "Make the key that sealed copies of arguments hang on; what is there is never replaced.",
    ),
    "show": (
        "gateway.cli.log_keys:show",
        "Show the public keys, the one that signs first; a copy belongs to whoever verifies.",
    ),
    "rotate": (
        "gateway.cli.log_keys:rotate",
        "Replace the key: the old and the new one sign one checkpoint, then the old one is gone.",
    ),
}
REPLAY: Final[Table] = {
    "show": (
        "gateway.cli.replay_show",
        "Say how one past call was judged and how it would be, with the first difference marked.",
    ),
}


def _group(name: str, table: Table, about: str, example: str = "") -> LateGroup:
    return LateGroup(name=name, table=table, help=about, epilog=example or None)


tools = _group("tools", _TOOLS, "List, pin and compare the tools of the configured servers.")
resources = _group(
    "resources", _RESOURCES, "List the resources of the configured servers, and their templates."
)
prompts = _group("prompts", _PROMPTS, "List the prompts of the configured servers.")
policy = _group(
    "policy", _POLICY, "Check the policy before it decides, and see what a change of it does."
)
approvals = _group(
    "approvals",
    _APPROVALS,
    "List calls that wait for a person's decision, look at one, and decide.",
)
runs = _group(
    "runs",
    _RUNS,
    "List runs, look at one, pause it, go on with it, hand it over, and undo what it did.",
)
ops = _group(
    "ops",
    _OPS,
    "List operations, settle those of which nobody knows, and undo what can be undone.",
)
admin = _group("admin", _ADMIN, "Log in at the listener for people, where approvals are decided.")
keys = _group("keys", _KEYS, "Make API keys; the gateway keeps only their hashes.")
events = _group(
    "events",
    _EVENTS,
    "Read the event log: who called what, how it was decided, how it ended; and prove it.",
)
hold = _group(
    "hold",
    _HOLD,
    _EVENTS["hold"][1],
    "Example: weighbridge events hold add --tenant acme --reason 'case 4711'",
)
log_keys = _group("keys", _LOG_KEYS, _EVENTS["keys"][1], "Example: weighbridge events keys show")


@click.group(
    "ask",
    cls=LateGroup,
    table=_ASK,
    invoke_without_command=True,
    epilog="Example: weighbridge events ask --json, or weighbridge events ask decided --since 24h",
)
@json_option
@click.pass_context
def ask(context: click.Context, as_json: bool) -> None:
    """Answer a question that auditors ask; without one, list them.

    Each answer is a table, or lines of JSON (--json), or CSV (--csv); and each is in the log.
    """
    if context.invoked_subcommand is not None:
        if as_json:
            output.fail(f"`--json` goes behind `{context.invoked_subcommand}`")
        return
    if as_json:
        output.as_json([{"question": name, "about": about} for name, (_, about) in _ASK.items()])
        return
    for name, (_, about) in _ASK.items():
        click.echo(f"{name:<15} {about}")


GROUPS: Final[Mapping[str, LateGroup]] = {
    "tools": tools,
    "resources": resources,
    "prompts": prompts,
    "policy": policy,
    "approvals": approvals,
    "runs": runs,
    "ops": ops,
    "admin": admin,
    "keys": keys,
    "events": events,
    "events ask": ask,
    "events hold": hold,
    "events keys": log_keys,
}
