"""Logging in at the organisation's identity provider."""

import hmac
import logging
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway import jsontext
from gateway.admin.attempts import Attempts
from gateway.admin.guard import peer_of
from gateway.admin.room import Room
from gateway.errors import JsonError
from gateway.identity.challenge import Rejected
from gateway.identity.provider import Attempt, Provider, ProviderUnavailable
from gateway.store.vault import Vault, VaultBroken
from gateway.types.approvals import Approver, Assurance, Channel
from gateway.types.calls import Principal
from gateway.types.json import JsonObject

_log = logging.getLogger("weighbridge")

CALLBACK: Final = "/login/callback"
_COOKIE: Final = "weighbridge-login"
_PLACE: Final = "login"
_LASTS_S: Final = 600
_HOME: Final = "/approvals"
_OURS: Final = re.compile(
    r"/(?:(?:approvals|runs|events|policies|proposals)(?:/[A-Za-z0-9_]{1,80})?"
    r"|replay(?:/report|/calls/[A-Za-z0-9_]{1,80})?)"
    r"(?:\?[A-Za-z0-9_.~%&=:+*-]{1,1500})?",
    re.ASCII,
)
_ERROR: Final = re.compile(r"[a-z_]{1,60}", re.ASCII)  # the codes of RFC 6749, 4.1.2.1
_LOST: Final = "this login was not begun in this browser, or more than 10 minutes ago; log in again"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """A login under way, as its browser holds it: sealed, since only we may read and write it."""

    attempt: Attempt
    to: str  # where the person wanted to


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcLogin:
    """The way to the provider and back.

    What belongs to one login is in a sealed cookie of the browser that began it: any replica can
    take the answer, and no other browser can. That cookie has to be SameSite=Lax, because the way
    back begins at another site; it is good for nothing else.
    """

    room: Room
    provider: Provider
    vault: Vault
    attempts: Attempts

    def routes(self) -> Sequence[Route]:
        """Return the pages with their paths."""
        return (Route("/login/oidc", self.go), Route(CALLBACK, self.come_back))

    async def go(self, request: Request) -> Response:
        """Send the browser to the provider."""
        if request.method != "GET":
            return Response(status_code=405, headers={"Allow": "GET"})
        if not self.attempts.let(peer_of(request.scope)):
            return self._refuse(request, "too many attempts; wait a minute", status=429)
        to = request.query_params.get("to", "")
        begun = _Begun(
            attempt=Attempt(
                state=secrets.token_urlsafe(32),
                nonce=secrets.token_urlsafe(32),
                verifier=secrets.token_urlsafe(48),
            ),
            to=to if _OURS.fullmatch(to) else _HOME,
        )
        try:
            address = await self.provider.address(begun.attempt, redirect_uri=self._redirect_uri)
        except ProviderUnavailable as error:
            return self._unavailable(error)
        answer = RedirectResponse(address, status_code=303)
        self._keep(answer, self._sealed(begun), _LASTS_S)
        return answer

    async def come_back(self, request: Request) -> Response:
        """Take the provider's answer, and log in whom it names."""
        if request.method != "GET":
            return Response(status_code=405, headers={"Allow": "GET"})
        begun, given = self._opened(request), request.query_params
        if begun is None or not _same(given.get("state", ""), begun.attempt.state):
            return self._refuse(request, _LOST, status=403)
        if "code" not in given:
            error = given.get("error", "")
            why = f" ({error})" if _ERROR.fullmatch(error) else ""
            return self._refuse(request, f"the provider did not log you in{why}", status=403)
        try:
            principal = await self.provider.person(
                begun.attempt,
                code=given["code"],
                said_issuer=given.get("iss", ""),
                redirect_uri=self._redirect_uri,
            )
        except ProviderUnavailable as error:
            return self._unavailable(error)
        except Rejected as rejected:
            return self._refuse(request, rejected.reason, status=rejected.status)
        return await self._enter(request, principal, begun.to)

    async def _enter(self, request: Request, principal: Principal, to: str) -> Response:
        person = Approver(
            tenant=principal.tenant,
            user=principal.user,
            roles=principal.roles,
            assurance=Assurance.AUTHENTICATED,
            channel=Channel.PAGE,
            issuer=principal.issuer,
        )
        # Not a redirect: browsers see those as the other site's, and would keep the cookie back.
        answer = self.room.pages.render("onward", to=to)
        await self.room.sessions.begin(person, request, answer)
        self._keep(answer, "", 0)
        self.room.came_in(request, person)
        return answer

    @property
    def _redirect_uri(self) -> str:
        return f"{self.room.base_url}{CALLBACK}"

    def _sealed(self, begun: _Begun) -> str:
        until = self.room.clock.now().timestamp() + _LASTS_S
        said: JsonObject = {
            "state": begun.attempt.state,
            "nonce": begun.attempt.nonce,
            "verifier": begun.attempt.verifier,
            "to": begun.to,
            "until": int(until),
        }
        return self.vault.seal("", _PLACE, jsontext.dump(said))

    def _opened(self, request: Request) -> _Begun | None:
        try:
            opened = self.vault.open("", _PLACE, request.cookies.get(_COOKIE, ""))
            said = jsontext.parse(opened)
        except (VaultBroken, JsonError):
            return None
        match said:
            case {
                "state": str(state),
                "nonce": str(nonce),
                "verifier": str(verifier),
                "to": str(to),
                "until": int(until),
            } if self.room.clock.now().timestamp() < until:
                attempt = Attempt(state=state, nonce=nonce, verifier=verifier)
                return _Begun(attempt=attempt, to=to)
            case _:
                return None

    def _keep(self, answer: Response, value: str, lasts_s: int) -> None:
        secure = "; Secure" if self.room.base_url.startswith("https://") else ""
        answer.headers.append(
            "Set-Cookie",
            f"{_COOKIE}={value}; Max-Age={lasts_s}; Path=/login; HttpOnly; SameSite=Lax{secure}",
        )

    def _unavailable(self, error: ProviderUnavailable) -> Response:
        _log.warning("nobody can log in at the identity provider: %s", error)
        text = "the identity provider can't be reached right now; try again in a moment"
        return self.room.pages.message("Not logged in", text, status=503, back="/login")

    def _refuse(self, request: Request, why: str, *, status: int) -> Response:
        self.room.kept_out(request, why)
        return self.room.pages.message("Not logged in", why, status=status, back="/login")


def _same(given: str, kept: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), kept.encode())
