"""The words by which a tool tells what it does: verbs that read, change, destroy and run."""

import re
from itertools import dropwhile

# fmt: off
# At the beginning of a name these read, unless something else speaks against it.
READS = frozenset({
    "get", "list", "search", "read", "fetch", "find", "describe", "lookup", "retrieve",
})
# These may as well be a thing, or something done on a screen: the description has to agree.
READS_PERHAPS = frozenset({
    "show", "view", "query", "count", "status", "inspect", "summarize", "diff", "log",
    "logs", "tree", "history", "info", "stats", "explain", "compare", "details", "summary",
    "preview",
})
# How a description begins that speaks of reading.
TELLS_OF_READING = READS | frozenset({
    "show", "view", "query", "count", "inspect", "return", "display", "look", "explain",
    "compare", "summarize", "check", "enumerate",
})
DESTROYS = frozenset({
    "delete", "remove", "drop", "wipe", "destroy", "purge", "erase", "truncate", "reset",
    "revoke", "terminate", "kill", "uninstall", "unlink", "rm", "overwrite", "shred", "clear",
    "flush", "prune", "discard", "evict",
})
# Hardly ever a thing: in whatever place of a name, it is what the tool does.
CHANGES = frozenset({
    "create", "update", "add", "set", "put", "send", "write", "edit", "insert", "append", "save",
    "store", "upload", "move", "rename", "modify", "replace", "upsert", "apply", "install",
    "enable", "disable", "assign", "submit", "publish", "execute", "exec", "deploy", "toggle",
    "trigger", "register", "invite", "notify", "reply", "mark", "restore", "activate",
    "deactivate", "grant", "attach", "detach", "increment", "navigate", "patch", "unset",
    "transfer", "pay", "charge", "refund", "cancel", "approve", "reject", "restart", "resume",
    "pop", "dequeue", "consume", "claim", "lease", "resolve", "dismiss", "decline", "respond",
    "pause", "subscribe", "unsubscribe", "merge", "migrate", "rollback", "sync", "generate",
})
# A thing as often as a deed, as in `get_commit` and `list_order`.
CHANGES_PERHAPS = frozenset({
    "commit", "post", "push", "pull", "comment", "order", "build", "run", "release", "review",
    "copy", "share", "schedule", "book", "fork", "clone", "branch", "checkout", "start", "stop",
    "close", "open", "select", "click", "type", "press", "drag", "fill", "upgrade", "scale",
    "import", "export", "archive", "lock", "unlock", "block", "ban", "switch", "make", "sign",
    "login", "connect", "disconnect", "join", "leave", "follow", "like", "vote", "forward",
    "record", "rate", "buy", "sell", "queue", "process", "stage", "tag", "label", "annotate",
    "take", "capture", "draw", "emit", "ack", "acknowledge", "change", "perform", "invoke",
    "complete", "accept", "finish", "reopen", "escalate",
    "alert", "notification", "dialog", "toast", "popup", "banner",  # to show one does something
})
RUNS = frozenset({
    "exec", "execute", "eval", "evaluate", "run", "shell", "bash", "terminal", "cmd", "command",
})
JOINS = frozenset({"and", "or", "then"})  # `get_or_create` does more than it says first
# fmt: on
_NAMESPACES = frozenset({"api", "mcp", "tool", "tools"})
_PLAIN = re.compile(r"[A-Za-z0-9_\-./: ]*\Z")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def words(name: str) -> list[str]:
    """Split a tool name such as `getUser_v2` into lower-case words."""
    return [word.lower() for word in _WORD.findall(name)]


def own_words(name: str, server: str) -> list[str]:
    """Return the words of a tool's name after those that only say whose tool it is."""
    found = words(name)
    said = _NAMESPACES.union(words(server)) - READS - DESTROYS - CHANGES
    return list(dropwhile(said.__contains__, found)) or found


def stem(word: str) -> str:
    """Return the plain form of a verb: `Deletes` is `delete`, `applies` is `apply`."""
    plain = word.lower()
    if plain.endswith("ies"):
        return plain[:-3] + "y"
    for ending in ("ches", "shes", "sses", "xes"):
        if plain.endswith(ending):
            return plain[:-2]
    return plain[:-1] if plain.endswith("s") and not plain.endswith("ss") else plain


def is_plain(name: str) -> bool:
    """Whether a name has only letters that it seems to have: none that looks like another."""
    return _PLAIN.match(name) is not None
