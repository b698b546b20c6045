"""Which names of variables, headers and settings say that their value is a credential."""

import re
from typing import Final

# `apiKey` is two words and `PGPassword` is two; other signs and digits stand between words.
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUN: Final = re.compile(r"[a-z]+")
# In the middle of a word as well, as in `SECRETVALUE`; not in `secretary`, nor in `tokenizer`.
_ANYWHERE: Final = re.compile(
    r"credential|pass(?:code|phrase|wd|word)|secret(?!ar)|signature|token(?!i[sz])"
)
# At the end of a word, as in `APIKEY`: not in `author` and `keycloak`.
_AT_END: Final = re.compile(
    r"(?:auth(?:entication|orization)?|bearer|cookie|cred|dsn|key|session)s?$"
)
# Only as the last word: `GITHUB_PAT`, but not `PASS_THROUGH`. `PWD` alone is a working directory.
_LAST: Final = re.compile(r"pass$|(?:^|_)(?:jwt|pat)$|_pwd$")
_INNOCENT: Final = ("askpass", "bypass", "compass")


def is_credential(name: str) -> bool:
    """Say whether a name tells of a credential; in doubt it does."""
    runs = _RUN.findall(name.lower())
    words = [word.lower() for word in _WORD.findall(name)]
    if any(_ANYWHERE.search(each) or _AT_END.search(each) for each in (*runs, *words)):
        return True
    joined = "_".join(words)
    return _LAST.search(joined) is not None and not joined.endswith(_INNOCENT)
