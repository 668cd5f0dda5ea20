"""What every request shares: the station, who asks, and the answers to mistakes."""

from __future__ import annotations

import hmac
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import JSONResponse

from situs.errors import SitusError
from situs.review.station.folder import StationFolder
from situs.review.station.store.accounts import IDLE_SECONDS, find_session, token_hash
from situs.review.station.store.database import Database
from situs.review.station.store.tables import Session, User

__all__ = ["COOKIE", "Actor", "Asking", "Problem", "Station", "Throttle", "need_role", "problem"]

COOKIE = "__Host-situs"
_SEEN_EVERY = 30.0
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,100}")


class Problem(Exception):
    """A mistake, answered as problem+json (RFC 9457)."""

    def __init__(self, status: int, title: str, **more: Any) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.more = more


def problem(status: int, title: str, **more: Any) -> JSONResponse:
    """The answer to a mistake."""
    body = {"type": "about:blank", "status": status, "title": title, **more}
    headers = {"Retry-After": str(more["retry_after"])} if "retry_after" in more else None
    return JSONResponse(body, status, headers, media_type="application/problem+json")


class Throttle:
    """Failed sign-ins by account and by address:
    after a few, each further one has to wait longer."""

    free = 5
    longest = 300.0
    most = 10_000

    def __init__(self) -> None:
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, *keys: str) -> float:
        """Count a try as a failure until it has succeeded; or seconds until another is heard.

        Counted before the password is checked: many tries sent at one moment would all be heard.
        """
        now = time.monotonic()
        with self._lock:
            wait = max(self._until(key) - now for key in keys)
            if wait > 0:
                return wait
            for key in keys:
                count = self._failures.get(key, (0, 0.0))[0] + 1
                self._failures[key] = (count, now)
                self._failures.move_to_end(key)
            while len(self._failures) > self.most:
                self._failures.popitem(last=False)
            return 0.0

    def succeeded(self, *keys: str) -> None:
        """Forget the failures."""
        with self._lock:
            for key in keys:
                self._failures.pop(key, None)

    def _until(self, key: str) -> float:
        count, last = self._failures.get(key, (0, 0.0))
        if count < self.free:
            return 0.0
        return last + min(self.longest, 2.0 ** (count - self.free))


@dataclass
class ImportState:
    """How far a sample is taken in."""

    project: str
    state: str = "running"
    """`running`, `done` or `failed`."""
    done: int = 0
    of: int = 0
    problem: str = ""


class Imports:
    """Samples that are being taken in, one at a time: each reads whole volumes."""

    def __init__(self) -> None:
        self.last: ImportState | None = None
        self._lock = threading.Lock()

    def start(self, project: str, work: Callable[[ImportState], None]) -> None:
        """Do the work aside; refused while another is at it."""
        with self._lock:
            if self.last is not None and self.last.state == "running":
                raise Problem(409, f"{self.last.project} is being imported; please wait")
            self.last = state = ImportState(project)
        threading.Thread(target=self._run, args=(state, work), daemon=True).start()

    def _run(self, state: ImportState, work: Callable[[ImportState], None]) -> None:
        try:
            work(state)
            state.state = "done"
        except SitusError as error:
            state.problem, state.state = error.problem, "failed"
        except Exception as error:  # a thread's mistake would vanish otherwise
            state.problem, state.state = f"failed ({type(error).__name__})", "failed"
            raise


@dataclass
class Station:
    """The running station."""

    folder: StationFolder
    database: Database
    origins: tuple[str, ...]
    """Addresses the pages are served under; a write from any other page is refused."""
    behind_proxy: bool = False
    throttle: Throttle = field(default_factory=Throttle)
    openid: Any = None
    benches: Path | None = None
    """Where the benches lie that coordinators may take in; None: on the command line only."""
    data: Path | None = None
    """Where the scans of those benches lie, if not where they say."""
    imports: Imports = field(default_factory=Imports)

    def csrf_token(self, session_token: str) -> str:
        """What the page sends with every write; another site cannot know it."""
        return self.folder.mac("csrf", session_token)

    def slice_token(self, user: User, case: str, stage: int) -> str:
        """The address of a case's slices;
        worthless to any other user, and for a stage not reached."""
        return f"{case}.{stage}.{self.folder.mac('slices', str(user.id), case, str(stage))[:40]}"

    def read_slice_token(self, user: User, token: str) -> tuple[str, int] | None:
        """Case and stage of a token; None if it is not this user's."""
        parts = token.split(".")
        if len(parts) != 3 or parts[1] not in ("1", "2"):
            return None
        expected = self.slice_token(user, parts[0], int(parts[1]))
        return (parts[0], int(parts[1])) if hmac.compare_digest(expected, token) else None


@dataclass(frozen=True)
class Actor:
    """Who asks."""

    user: User
    session_token: str
    locked: bool

    def has(self, *roles: str) -> bool:
        """Whether the user has one of the roles."""
        return any(role in self.user.roles for role in roles)


def _asking(request: Request) -> Actor:
    """The signed-in user; 401 without one, 423 after a while without a sign of life."""
    actor = who_asks(request)
    if actor.locked:
        raise Problem(423, "the screen is locked; enter the password to continue")
    return actor


def who_asks(request: Request) -> Actor:
    """The user of the session, locked or not; writes must carry the page's token."""
    station: Station = request.app.state.station
    token = request.cookies.get(COOKIE, "")
    if not _TOKEN.fullmatch(token):
        raise Problem(401, "sign in first")
    with station.database.read() as db:
        session_and_user = find_session(db, token)
    if session_and_user is None:
        raise Problem(401, "the session has ended; sign in again")
    session, user = session_and_user
    if request.method not in ("GET", "HEAD"):
        sent = request.headers.get("x-situs-token", "")
        if not hmac.compare_digest(sent.encode(), station.csrf_token(token).encode()):
            raise Problem(403, "the request does not come from the station's own page")
    now = time.time()
    idle = now - session.seen
    locked = session.locked or idle > IDLE_SECONDS
    if locked and not session.locked:
        set_locked(station, token, True)
    elif not locked and idle > _SEEN_EVERY:
        set_locked(station, token, False)
    return Actor(user, token, locked)


def set_locked(station: Station, token: str, locked: bool) -> None:
    """Lock or unlock a session, and note that it lives."""
    with station.database.write() as db:
        session = db.get(Session, token_hash(token))
        if session is not None:
            session.locked = locked
            session.seen = time.time() if not locked else session.seen


Asking = Annotated[Actor, Depends(_asking)]


def need_role(actor: Actor, *roles: str) -> None:
    """Refuse whoever has none of the roles."""
    if not actor.has(*roles):
        raise Problem(403, f"this is for the {' or '.join(roles)}")
