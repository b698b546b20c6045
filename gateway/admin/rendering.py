"""From templates to pages: every text escaped, and a name that is missing is a fault."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from gateway.admin.sessions import Current
from gateway.approvals.visible import visible
from gateway.types.approvals import Approver

_FOLDER: Final = Path(__file__).parent / "templates"
_STYLE: Final = (_FOLDER / "style.css").read_bytes()
_SIGNS: Final = re.compile(r"\\u\{[0-9A-F]+(?: ×[0-9]+)?\}|[⏎⇥]")
# Its address says what is in it, so that a browser may keep it and never has an old one.
STYLE_PATH: Final = f"/style-{hashlib.sha256(_STYLE).hexdigest()[:12]}.css"


def _nobody(person: Approver) -> bool:
    del person
    return False


class Pages:
    """The templates of this folder; whom their navigation leads where, the others say."""

    def __init__(
        self,
        is_auditor: Callable[[Approver], bool] = _nobody,
        agrees: Callable[[Approver], bool] = _nobody,
        observes: Callable[[], bool] = lambda: False,
    ) -> None:
        self._is_auditor = is_auditor
        self._agrees = agrees
        self._observes = observes
        self._environment = Environment(
            loader=FileSystemLoader(_FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters |= {
            "host": _host,
            "told": told,
            "seen": seen,
            "code_line": code_line,
        }

    def render(
        self,
        name: str,
        *,
        current: Current | None = None,
        status: int = 200,
        **values: object,
    ) -> Response:
        """Return a page for who is logged in, if anybody; `values` are what its template names."""
        around: dict[str, object] = {
            "style": STYLE_PATH,
            "tab": "",
            "person": current.person if current is not None else None,
            "logout_token": current.token("/logout") if current is not None else "",
            "is_auditor": current is not None and self._is_auditor(current.person),
            "observes": self._observes(),
            "agrees": current is not None and self._agrees(current.person),
        }
        text = self._environment.get_template(f"{name}.html").render(around | values)
        return HTMLResponse(text, status_code=status)

    def file(self, name: str, **values: object) -> str:
        """Return a page that stands alone: whoever is sent it needs no gateway to look at it."""
        sheet = Markup(_STYLE.decode())  # noqa: S704 - our own, with nothing to escape in it
        return self._environment.get_template(f"{name}.html").render(values, sheet_style=sheet)

    def message(
        self, title: str, text: str, *, status: int, current: Current | None = None, back: str = ""
    ) -> Response:
        """Return a page that says one thing; `back` is where to go on from there."""
        return self.render(
            "message", current=current, status=status, title=title, text=text, back=back
        )


def told(text: str) -> Markup:
    """Return a `visible` text as HTML, with what stands for a hidden character set apart.

    A line end of the text is one on the page too, behind its sign.
    """
    parts: list[str] = []
    done = 0
    for found in _SIGNS.finditer(text):
        sign, name = found.group(), "esc" if found.group()[0] == "\\" else "sign"
        parts.append(
            f'{escape(text[done : found.start()])}<span class="{name}">{escape(sign)}</span>'
        )
        parts += ["<br>"] if sign == "⏎" else []
        done = found.end()
    parts.append(escape(text[done:]))
    return Markup("".join(parts))  # noqa: S704 - every piece of the text was escaped


def seen(text: str) -> Markup:
    """Return a text from outside as HTML, with all that hides written out."""
    return told(visible(text))


def code_line(text: str) -> Markup:
    """Return a line of a file as HTML: its indent as it is, all else that hides written out."""
    bare = text.lstrip(" ")
    return Markup(" " * (len(text) - len(bare))) + seen(bare)  # noqa: S704 - blanks alone


def _host(url: str) -> str:
    return urlsplit(url).netloc


def style() -> Response:
    """Return the style of all pages."""
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_STYLE, media_type="text/css", headers=kept)
