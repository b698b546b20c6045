"""A cautious answer to "does this SQL only read?", for the CEL function `sql_reads_only`.

Dialects disagree on comments, escapes and quotes; wherever they do, the answer is no. A yes is
not a proof: a function that the statement calls may write. Give the downstream a read-only role.
"""

import re

_READS = frozenset({"select", "with", "values", "table", "show", "describe", "explain"})
# Also words that could start a second statement where a dialect needs no semicolon between two.
_WRITES = re.compile(
    r"""(?:
    insert| update| delete| merge| upsert| truncate| drop| alter| create| grant| revoke|
    deny| call| exec| execute| do| copy| into| outfile| dumpfile| set| lock| unlock|
    vacuum| analyze| analyse| attach| detach| pragma| load| reindex| use| shutdown|
    kill| backup| restore| bulk| dbcc| waitfor| reconfigure| nextval| setval|
    set_config| lo_import| lo_export| lo_unlink| dblink| dblink_exec| pg_read_file|
    pg_read_binary_file| pg_terminate_backend| pg_cancel_backend| pg_reload_conf|
    query_to_xml| load_extension| load_file| xp_cmdshell| sp_executesql| openrowset
    )""",
    re.VERBOSE,
)
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<line>--(?=\s|\Z)[^\n\r]*)
  | (?P<block>/\*(?![!+M])(?:(?!/\*|\*/).)*\*/)
  | (?P<quoted>'(?:[^'\\]|''|\\(?!['"\\]))*'|"(?:[^"\\]|""|\\(?!['"\\]))*"|`[^`\\]*`)
  | (?P<word>[^\W\d]\w*)
  | (?P<number>\d[\w.]*)
  | (?P<end>;)
  | (?P<mark>[()\[\],.*+/%<>=!|&^~:?@{}-])
    """,
    re.VERBOSE | re.DOTALL,
)


def sql_reads_only(statement: str) -> bool:
    """Say whether the text is one statement that reads, as far as its words can tell."""
    position, words, ended = 0, list[str](), False
    while position < len(statement):
        token = _TOKEN.match(statement, position)
        # An unclosed quote, `#`, `$`, `--x`, `/*!`: one dialect's comment is another's code.
        if token is None or statement.startswith(("--", "/*"), position) is not (
            token.lastgroup in ("line", "block")
        ):
            return False
        position = token.end()
        if token.lastgroup in ("space", "line", "block"):
            continue
        if ended:
            return False
        ended = token.lastgroup == "end"
        if token.lastgroup == "word":
            words.append(token.group().lower())
    return bool(words) and words[0] in _READS and not any(map(_WRITES.fullmatch, words))
