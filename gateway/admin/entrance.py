"""The admin listener as a whole: its pages, and who gets to them."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.routing import Route
from starlette.types import ASGIApp

from gateway.actions.runs import Gathering
from gateway.admin.agreement_desk import AgreementDesk
from gateway.admin.attempts import Attempts
from gateway.admin.auditors import Auditors
from gateway.admin.desk import Desk
from gateway.admin.errands import Errands
from gateway.admin.events_desk import EventsDesk
from gateway.admin.guard import Guard
from gateway.admin.login import Login
from gateway.admin.oidc import OidcLogin
from gateway.admin.onehost import OneHost
from gateway.admin.people import People
from gateway.admin.policies_desk import PoliciesDesk
from gateway.admin.readiness import Readiness
from gateway.admin.rendering import Pages
from gateway.admin.replay_desk import ReplayDesk
from gateway.admin.replays import Replays
from gateway.admin.rest import Rest
from gateway.admin.room import Room
from gateway.admin.runs_api import RunsApi
from gateway.admin.runs_desk import RunsDesk
from gateway.admin.sessions import Sessions
from gateway.admin.shelves import Shelf
from gateway.admin.site import site
from gateway.approvals import agreeing
from gateway.clock import Clock
from gateway.config.addresses import is_private_url
from gateway.config.settings import Settings
from gateway.crossing.deciding import Deciding
from gateway.crossing.running import Running
from gateway.errors import StoreUnavailable
from gateway.identity.hosts import Hosts
from gateway.identity.provider import Provider
from gateway.revision import Revision
from gateway.store.store import Store
from gateway.store.vault import Vault
from gateway.types.approvals import Approver
from gateway.types.events import Event
from gateway.types.refused import TurnedAway

_log = logging.getLogger("weighbridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """What the admin listener is built from; `base_url` is where people reach it."""

    settings: Settings
    base_url: str
    store: Store
    deciding: Deciding
    running: Running
    revision: Callable[[], Revision]
    clock: Clock
    readiness: Callable[[], Readiness]
    note_turned_away: Callable[[TurnedAway], None]
    errands: Errands  # closed by whoever made it
    observes: Callable[[], bool] = lambda: False
    """Whether decisions are only recorded: every page says so."""

    def app(self) -> ASGIApp:
        """Return the application, whose `Host` headers the listener has still to check."""
        auditors = Auditors(settings=self.settings)
        pages = Pages(auditors.is_one, self._agrees, self.observes)
        room = self._room(pages)
        agreement = self._agreement(room)
        logins = Login(room=room, logins=self.store.logins)
        replay = self._replay(room, auditors)
        desk = Desk(
            room=room,
            approvals=self.store.approvals,
            deciding=self.deciding,
            vault=Vault(self.store.keys.operations),
        )
        rooms = (
            *self._oidc(room),
            *logins.routes(),
            *desk.routes(),
            *self._runs(room).routes(),
            *EventsDesk(room=room, store=self.store, auditors=auditors).routes(),
            *replay.routes(),
            *PoliciesDesk(replay=replay).routes(),
            *agreement.routes(),
        )
        return Guard(
            OneHost(
                site(self.readiness, rooms, pages),
                pages,
                base_url=self.base_url,
                hosts=self.settings.admin.hosts if self.settings.admin.public_url else (),
            ),
            api=self._rest().app(),
            is_https=self._is_https,
            note_turned_away=self.note_turned_away,
        )

    def _runs(self, room: Room) -> RunsDesk:
        return RunsDesk(
            room=room,
            running=self.running,
            gathering=self._gathering,
            runs=self.store.runs,
            events=self.store.events,
            revision=self.revision,
            operators=self.settings.runs.operators,
        )

    def _agrees(self, person: Approver) -> bool:
        """Whether somebody is led to changes of the policy that wait for people."""
        is_shared = self.settings.activation.is_shared
        return is_shared and not agreeing.stranger(person, self.settings.say)

    def _agreement(self, room: Room) -> AgreementDesk:
        return AgreementDesk(
            room=room,
            store=self.store,
            say=self.settings.say,
            redactor=self.deciding.redactor,
        )

    def _replay(self, room: Room, auditors: Auditors) -> ReplayDesk:
        replays = Replays(
            room=room,
            store=self.store,
            shelf=Shelf(store=self.store, settings=self.settings),
            auditors=auditors,
            errands=self.errands,
        )
        return ReplayDesk(replays=replays)

    @property
    def _gathering(self) -> Gathering:
        store = self.store
        return Gathering(runs=store.runs, operations=store.operations, approvals=store.approvals)

    def _rest(self) -> Rest:
        """Return the programs' side: nothing of it knows people or their sessions."""
        api = RunsApi(
            running=self.running,
            gathering=self._gathering,
            runs=self.store.runs,
            revision=self.revision,
            base_url=self.base_url,
        )
        return Rest(
            hosts=Hosts(self.settings.admin.api_keys, clock=self.clock),
            handlers=api.handlers(),
            note_turned_away=self.note_turned_away,
        )

    def _room(self, pages: Pages) -> Room:
        admin = self.settings.admin
        people = People(
            accounts=self.settings.accounts,
            issuer=admin.oidc.issuer if admin.oidc is not None else "",
            tenants=admin.oidc.only_tenants if admin.oidc is not None else frozenset(),
        )
        return Room(
            pages=pages,
            sessions=Sessions(self.store.logins, people, admin.session, is_https=self._is_https),
            people=people,
            clock=self.clock,
            base_url=self.base_url,
            say=self._say,
            note_turned_away=self.note_turned_away,
        )

    def _oidc(self, room: Room) -> Sequence[Route]:
        entry = self.settings.admin.oidc
        if entry is None:
            return ()
        key = self.store.keys.logins()
        login = OidcLogin(
            room=room,
            provider=Provider(entry, clock=self.clock, is_trusted=is_private_url),
            vault=Vault(lambda tenant: key),
            attempts=Attempts(self.clock),
        )
        return login.routes()

    @property
    def _is_https(self) -> bool:
        return self.base_url.startswith("https://")

    def _say(self, event: Event) -> None:
        try:
            self.store.events.append([event])
        except StoreUnavailable as error:
            _log.error("a login could not be recorded: %s", error)
