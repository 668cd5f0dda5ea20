"""Opening the database: settings that lose nothing,
migrations, and triggers that refuse to rewrite the past."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection as RawConnection
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session as Connection
from sqlalchemy.orm import sessionmaker

from situs.errors import SitusError
from situs.review.station.folder import StationFolder

__all__ = ["Database", "open_database", "schema_version", "upgrade"]


_ONE_WRITER = 0x5174
"""The number of PostgreSQL's advisory lock; any will do as long as it is always the same."""

# Half of reading many rows is reading their JSON, which the standard library does slowly.
_JSON: dict[str, Any] = {
    "json_deserializer": msgspec.json.decode,
    "json_serializer": lambda value: msgspec.json.encode(value).decode(),
}


class Database:
    """Transactions on the station's database;
    each that writes leaves its chain head outside of it too."""

    def __init__(self, folder: StationFolder, engine: Engine) -> None:
        self.folder = folder
        self.engine = engine
        self._make = sessionmaker(engine, expire_on_commit=False)
        looking = engine.execution_options(reading=True)
        if engine.dialect.name == "postgresql":
            # One look at one moment, as on SQLite: rows and the events that vouch for them agree.
            looking = looking.execution_options(isolation_level="REPEATABLE READ")
        self._look = sessionmaker(looking, expire_on_commit=False)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that is kept whole or not at all; nobody else writes meanwhile.

        What it reads (a version, an unused invitation, the last link of the chain) is still so when
        it writes: two tabs that send the same version at the same moment cannot both be believed.
        """
        with self._make() as db:
            db.info["head"] = None
            with db.begin():
                if self.engine.dialect.name == "postgresql":
                    # SQLite has one writer at a time anyhow (BEGIN IMMEDIATE).
                    db.execute(text(f"SELECT pg_advisory_xact_lock({_ONE_WRITER})"))
                yield db
                if db.info["head"] is not None:
                    self.folder.add_head(*db.info["head"], is_next=True)
            if db.info["head"] is not None:
                self.folder.add_head(*db.info["head"])

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A look; nothing is written."""
        with self._look() as db:
            yield db
            db.expunge_all()  # what was read stays readable after the transaction
            db.rollback()

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def open_database(folder: StationFolder, *, migrate: bool = True) -> Database:
    """The database of a station, brought to the schema of this version unless told otherwise."""
    engine = _engine(folder.database)
    try:
        with engine.connect() as connection:
            if migrate:
                upgrade(connection)
                connection.commit()
            elif schema_version(connection) is None:
                raise SitusError("has no tables", where=folder.root, fix="run situs review serve")
    except SitusError:
        engine.dispose()
        raise
    except SQLAlchemyError as error:
        engine.dispose()
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise SitusError(
            f"the database cannot be used ({reason})",
            where=folder.root,
            fix="is its server running, and does the account exist?",
        ) from error
    return Database(folder, engine)


def _engine(address: str) -> Engine:
    if not address.startswith("sqlite"):
        return create_engine(address, pool_size=10, max_overflow=20, pool_pre_ping=True, **_JSON)
    waiting = {"timeout": 30, "check_same_thread": False}
    engine = create_engine(address, connect_args=waiting, **_JSON)

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin below, not by the driver
        cursor = connection.cursor()
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: RawConnection) -> None:
        # A transaction that begins by reading cannot become a writer while another writes: it would
        # fail.
        reading = connection.get_execution_options().get("reading", False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def upgrade(connection: RawConnection, target: str = "head", more: tuple[Path, ...] = ()) -> None:
    """Run the migrations a database lacks, also those in the folders `more`.

    Refused for a database that a later version wrote.
    """
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    places = (Path(__file__).parent / "versions", *more)
    config.set_main_option("version_locations", os.pathsep.join(map(str, places)))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)

    def steps(revision: Any, _: object) -> Any:
        return script._upgrade_revs(target, revision)

    try:
        with EnvironmentContext(config, script, fn=steps, destination_rev=target) as environment:
            environment.configure(connection=connection)
            environment.run_migrations()
    except CommandError as error:
        raise SitusError(
            "its database was written by a later version", where="situs review", fix="update Situs"
        ) from error


def schema_version(connection: RawConnection) -> str | None:
    """The revision a database is at; None if it has no tables."""
    if "alembic_version" not in inspect(connection).get_table_names():
        return None
    return str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar())
