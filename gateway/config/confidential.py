"""Which texts of a configuration must never show up in an output."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from gateway.config import telling
from gateway.config.settings import Settings

# Shorter texts, such as a port, would be cut out of innocent words everywhere.
_SHORTEST: Final = 8
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]* +(?=\S)")
# Places of the file that the environment fills with credentials, as a rule.
_FILLED: Final = frozenset({"args", "env", "headers", "url"})
_WEBHOOKS: Final = (("approvals", "webhooks"), ("events", "checkpoints", "to"))

Path = tuple[str | int, ...]


def find(settings: Settings, taken: Iterable[tuple[Path, str]]) -> tuple[str, ...]:
    """Return the texts to redact, longest first; `taken` are the values from the environment."""
    texts = {text for text in _texts(settings, taken) if len(text) >= _SHORTEST}
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def of_servers(
    settings: Settings, written: Mapping[Path, str], environ: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the credentials that each server was given, longest first.

    Fewer than what is redacted in the log: these are taken out of results too, whose texts must
    stay exact, so that a value counts only when its own name or that of its variable tells.
    """
    found = {
        name: {
            form
            for key, text in (*entry.headers.items(), *entry.env.items())
            if telling.is_credential(key)
            for form in _forms(text)
        }
        for name, entry in settings.servers.items()
    }
    for path, text in written.items():
        if path[:1] == ("servers",) and _is_filled(path):
            for variable in _VARIABLE.findall(text):
                if telling.is_credential(variable):
                    found[str(path[1])].update(_forms(environ.get(variable, "")))
    return {
        name: tuple(sorted((text for text in texts if len(text) >= _SHORTEST), key=len)[::-1])
        for name, texts in found.items()
    }


def _texts(settings: Settings, taken: Iterable[tuple[Path, str]]) -> Iterator[str]:
    for path, text in taken:
        if _is_filled(path):
            yield from _forms(text)
    for entry in settings.servers.values():
        for name, text in (*entry.headers.items(), *entry.env.items()):
            if telling.is_credential(name):
                yield from _forms(text)
    yield from _of_webhooks(settings)
    if settings.admin.oidc is not None:
        yield settings.admin.oidc.client_secret or ""
    password = urlsplit(settings.store.url).password
    if password:
        yield password
        yield unquote(password)


def _of_webhooks(settings: Settings) -> Iterator[str]:
    for each in (*settings.approvals.webhooks, *settings.events.checkpoints.to):
        yield from (each.secret or "", (each.secret or "").removeprefix("whsec_"))
    for webhook in settings.approvals.webhooks:
        if webhook.format == "slack":  # whoever knows such a URL may post there
            yield webhook.url


def _is_filled(path: Sequence[str | int]) -> bool:
    if any(tuple(path[: len(place)]) == place for place in _WEBHOOKS):
        return path[-1] in {"url", "secret"}
    return path[:1] == ("store",) or (
        path[:1] == ("servers",) and len(path) > 2 and path[2] in _FILLED
    )


def _forms(text: str) -> tuple[str, ...]:
    """Return the text, and what follows its scheme, as in `Bearer …`."""
    return text, _SCHEME.sub("", text, count=1)
