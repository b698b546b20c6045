"""From the configuration file to settings: every fault of the file at once, each with its place."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gateway import yamltext
from gateway.config import confidential, env_file, foreign, misconfigured, naming, paths
from gateway.config.addresses import is_private_url
from gateway.config.expand import Expansion, expand
from gateway.config.exposure import find_open_listener
from gateway.config.settings import Settings
from gateway.errors import ConfigurationError, FileError, FilesError
from gateway.yamltext import YamlDocument

_LARGEST: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_OTHER_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The settings, what to redact everywhere, and what a person should look at."""

    settings: Settings
    secrets: tuple[str, ...]  # longest first
    warnings: tuple[str, ...]
    path: Path | None = None  # of the file


def load(path: Path, environ: Mapping[str, str]) -> Loaded:
    """Read a configuration file; raise FileError for its faults, or ConfigurationError.

    FilesError, a FileError, carries all faults at once. A server entry with a missing variable is
    kept as misconfigured, so that the others run; anywhere else a missing variable is a fault.
    """
    file = str(path)
    return of_text(_text(path, file), path, environ)


def of_text(text: str, path: Path, environ: Mapping[str, str]) -> Loaded:
    """Do the same with a text that stands, or may come to stand, in a file at `path`."""
    file = str(path)
    document = yamltext.load(text, file=file)
    environ, exposed = _with_env_file(document, path, environ)
    expansion = expand(document.value, environ)
    missing = misconfigured.by_server(expansion.missing)
    settings = _validated(document, expansion, missing, file)
    settings = misconfigured.mark(settings, missing)
    credentials = confidential.of_servers(settings, expansion.written, environ)
    settings = naming.mark(settings, expansion.written, credentials)
    settings = paths.resolve(settings, folder=path.parent, home=environ.get("HOME"))
    if (listener := find_open_listener(settings)) is not None:
        line, column = document.place((listener.section,))
        raise ConfigurationError(f"{file}:{line}:{column}: {listener.message}")
    policies = expansion.written.get(("policies",))
    if policies is not None and not settings.policies.is_dir():
        line, column = document.place(("policies",))
        message = f"`policies` is `{policies}`, and there is no such folder; make it, or set it"
        raise FileError(message, file=file, line=line, column=column)
    return Loaded(
        settings=settings,
        secrets=confidential.find(settings, expansion.taken),
        warnings=(*exposed, *_warnings(settings)),
        path=path,
    )


def _with_env_file(
    document: YamlDocument, path: Path, environ: Mapping[str, str]
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the environment with the variables of `env_file` over it, and what to look at there.

    An empty value there leaves the environment's as it is.
    """
    named = document.value.get("env_file")
    if not isinstance(named, str) or not named:  # any other value is reported with all faults
        return environ, ()
    file = paths.beside(Path(named), folder=path.parent, home=environ.get("HOME"))
    if not file.exists():
        line, column = document.place(("env_file",))
        message = f"`env_file` is `{named}`, and there is no such file; make it, or remove the key"
        raise FileError(message, file=str(path), line=line, column=column)
    given = {
        name: value
        for name, value in env_file.parse(_text(file, str(file)), file=str(file)).items()
        if value
    }
    is_open = file.stat().st_mode & 0o077
    told = f"`{named}` holds secrets and can be read by others; `chmod 600` it"
    return {**environ, **given}, (told,) if is_open else ()


def _text(path: Path, file: str) -> str:
    """Read UTF-8, with or without a byte order mark."""
    try:
        with path.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
    except FileNotFoundError:
        raise FileError(
            "no such file; make one with `weighbridge init`, or name it with `--config`",
            file=file,
        ) from None
    except OSError as error:
        raise FileError(
            f"can't be read: {(error.strerror or str(error)).lower()}; look at its owner and mode",
            file=file,
        ) from error
    if len(data) > _LARGEST:
        raise FileError(f"larger than {_LARGEST} bytes; is it the right file?", file=file)
    if data.startswith(_OTHER_BOMS):
        raise FileError("UTF-16; save it as UTF-8", file=file, line=1, column=1)
    data = data.removeprefix(_BOM)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise FileError(
            "not UTF-8; save it as UTF-8", file=file, line=line, column=column
        ) from None


def _validated(
    document: YamlDocument,
    expansion: Expansion,
    missing: Mapping[str, misconfigured.Missings],
    file: str,
) -> Settings:
    """Return the settings of an expanded document, or raise every fault of it in file order."""
    value = expansion.value if isinstance(expansion.value, dict) else document.value
    keys = list(foreign.find(value))
    faults = list(_faults(document, expansion, keys, file))
    value = misconfigured.stand_in(foreign.without(value, keys), missing)
    try:
        settings = yamltext.validate(Settings, replace(document, value=value), file=file)
    except FilesError as error:
        # A value with a bad reference has nothing else wrong with it that a person can see.
        places = {(fault.line, fault.column) for fault in faults}
        found = naming.as_written(error.errors, document, expansion)
        faults += [fault for fault in found if (fault.line, fault.column) not in places]
    else:
        if not faults:
            return settings
    raise FilesError(sorted(faults, key=lambda fault: (fault.line, fault.column)))


def _faults(
    document: YamlDocument, expansion: Expansion, keys: list[foreign.ForeignKey], file: str
) -> Iterator[FileError]:
    for key in keys:
        line, column = document.key_place(key.path)
        yield FileError(key.message, file=file, line=line, column=column)
    for malformed in expansion.malformed:
        line, column = document.place(malformed.path)
        yield FileError(
            f"`{_dotted(malformed.path)}`: {malformed.message}", file=file, line=line, column=column
        )
    for gap in expansion.missing:
        if misconfigured.server_of(gap.path) is None:
            line, column = document.place(gap.path)
            yield FileError(
                f"`{_dotted(gap.path)}`: {gap.reason}; set it, or give a default as in "
                "`${VAR:-default}`",
                file=file,
                line=line,
                column=column,
            )


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path))


def _warnings(settings: Settings) -> Iterator[str]:
    if not settings.servers:
        yield "`servers` is empty: there is nothing behind the gateway"
    for name, entry in settings.servers.items():
        if entry.misconfigured:
            yield f"`servers.{name}` is misconfigured: {entry.misconfigured}; it is not used"
        if entry.url is None or entry.misconfigured:
            continue
        if entry.headers and not is_private_url(entry.url):
            yield f"`servers.{name}`: its headers can be read on the way; use `https://`"
        if not entry.tls.verify:
            yield f"`servers.{name}`: `tls.verify: false` lets anybody pose as this server"
