"""`situs review`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.base.text import counted
from situs.cli.output.paths import INPUT, LOCAL, out_option
from situs.cli.output.printing import (
    echo,
    json_option,
    print_json,
    print_table,
    warn,
)
from situs.cli.output.progress import progress_bar
from situs.errors import SitusError

if TYPE_CHECKING:
    from situs.review.station.exported import ExportResult
    from situs.review.station.folder import StationFolder
    from situs.review.station.store.database import Database

_UNIT_WORDS = {
    "item": ("item",),
    "wording": ("wording",),
    "catch": ("planted error",),
    "training": ("training case",),
}
_DIR = click.argument("folder", type=LOCAL)
_PROJECT = click.option("--project", required=True, help="The project's name.")


class _OnADatabase(click.Group):
    """Commands on a database that somebody may have damaged, moved or locked."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the database cannot do is a user's error."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if not _is_of_the_database(error):
                raise
            reason = str(getattr(error, "orig", None) or error).splitlines()[0]
            raise SitusError(
                f"the database cannot be used ({reason})",
                where="situs review",
                fix="restore the station from a backup or an export",
            ) from error


def _is_of_the_database(error: Exception) -> bool:
    """Whether it says that rows cannot be read or written, or that one holds what was never
    written."""
    import msgspec

    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        return False
    return isinstance(error, SQLAlchemyError | msgspec.MsgspecError)


@click.group("review", cls=_OnADatabase)
def command() -> None:
    """Let radiologists vet a bench in the browser, blinded: answer unaided first, then judge the
    key.

    \b
    situs review init station                        # a folder with a database, and an invitation
    situs review user station add R1 --role reader
    situs review import station bench --project pilot --items 200
    situs review assign station --project pilot --readers R1,R2 --freeze
    situs review serve station
    situs review export station --project pilot --out results

    Needs pip install 'situs[review]'. A research tool: not for diagnosis.
    """


def _open(folder: Path) -> tuple[StationFolder, Database]:
    try:
        from situs.review.station.folder import open_folder
        from situs.review.station.store.database import open_database
    except ImportError as error:
        raise _missing(error) from error
    opened = open_folder(folder)
    database = open_database(opened)
    # However the command ends: SQLite merges what it keeps beside the database when it is closed.
    click.get_current_context().call_on_close(database.close)
    return opened, database


def _missing(error: ImportError) -> SitusError:
    return SitusError(
        f"the reading station needs {error.name}",
        where="situs review",
        fix="pip install 'situs[review]'",
    )


@command.command("init")
@_DIR
@click.option(
    "--database",
    default="",
    metavar="URL",
    help="PostgreSQL instead of a SQLite file: postgresql://user@host/name",
)
@click.option("--coordinator", default="coordinator", show_default=True, help="The first account.")
@click.option(
    "--openid-issuer", default="", help="Also allow signing in with this OpenID Connect provider."
)
@click.option("--openid-client", default="", help="The client id registered there.")
@json_option
def _init(
    folder: Path,
    database: str,
    coordinator: str,
    openid_issuer: str,
    openid_client: str,
    as_json: bool,
) -> None:
    """Make a station and its first account; prints a one-time token for setting its password.

    The secret of an OpenID client is read from SITUS_OPENID_SECRET.
    """
    import os

    try:
        from situs.review.station.folder import OpenId, create_folder
        from situs.review.station.store.accounts import add_user
        from situs.review.station.store.database import open_database
    except ImportError as error:
        raise _missing(error) from error
    openid = None
    if openid_issuer:
        secret = os.environ.get("SITUS_OPENID_SECRET", "")
        openid = OpenId(openid_issuer, openid_client, secret)
    was_there = folder.exists()
    made = create_folder(folder, database, openid)
    try:
        opened = open_database(made)
        with opened.write() as db:
            token = add_user(db, coordinator, ["coordinator", "auditor"], "command line")
        opened.close()
    except BaseException:
        # It was empty, or not there: all that it holds now is half a station.
        for entry in folder.iterdir():
            entry.unlink(missing_ok=True)
        if not was_there:
            folder.rmdir()
        raise
    if as_json:
        print_json({"folder": str(folder), "coordinator": coordinator, "token": token})
        return
    echo(f"made {folder}; start it with: situs review serve {folder}")
    echo(f"then open the page, choose “I have an invitation”, and give this token: {token}")


@command.command("serve")
@_DIR
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port; 0 takes any free one.",
)
@click.option("--address", default="", help="The public address, e.g. https://reading.example.org")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front handles TLS; see --address.")
@click.option("--tls-cert", type=LOCAL, help="A certificate, for TLS without a proxy.")
@click.option("--tls-key", type=LOCAL, help="Its key.")
@click.option(
    "--benches", type=LOCAL, help="A folder of benches that coordinators may import on the page."
)
@click.option(
    "--data", type=LOCAL, help="The folder the volumes of those benches are in, if they were moved."
)
def _serve(folder: Path, benches: Path | None, data: Path | None, **binding: Any) -> None:
    """Serve the pages, on this machine only unless there is TLS."""
    try:
        from situs.review.station.folder import open_folder
        from situs.review.station.web.server import Binding, Offer, serve
    except ImportError as error:
        raise _missing(error) from error
    certificate, key = binding.pop("tls_cert"), binding.pop("tls_key")
    serve(
        open_folder(folder),
        Binding(certificate=certificate, key=key, **binding),
        lambda where: echo(f"reading station on {where}"),
        offer=Offer(benches, data),
    )


@command.command("user")
@_DIR
@click.argument("action", type=click.Choice(["add", "list", "invite", "roles", "close", "reopen"]))
@click.argument("code", default="")
@click.option("--role", "roles", multiple=True, help="reader, adjudicator, coordinator or auditor.")
@json_option
def _user(folder: Path, action: str, code: str, roles: tuple[str, ...], as_json: bool) -> None:
    """Add, list or change accounts. CODE is a code, not a name: exports show it."""
    _, database = _open(folder)
    from sqlalchemy import select

    from situs.review.station.store.accounts import add_user, change_user, invite
    from situs.review.station.store.tables import User

    token = ""
    with database.write() as db:
        if action == "add":
            token = add_user(db, code, roles, "command line")
        elif action == "invite":
            token = invite(db, change_user(db, code, "command line"), "command line")
        elif action == "roles":
            change_user(db, code, "command line", roles=roles)
        elif action in ("close", "reopen"):
            change_user(db, code, "command line", active=action == "reopen")
        users = list(db.scalars(select(User).order_by(User.code)))
        listed = [{"code": u.code, "roles": u.roles, "active": u.active} for u in users]
    if as_json:
        print_json({"users": listed, **({"token": token} if token else {})})
        return
    rows = [[u.code, ", ".join(u.roles), "yes" if u.active else "no"] for u in users]
    print_table("accounts", ["code", "roles", "active"], rows)
    if token:
        echo(f"one-time token for {code}, valid for a week: {token}")


@command.command("import")
@_DIR
@click.argument("source", type=INPUT)
@click.option("--project", default="", help="A name for the project.")
@click.option(
    "--items",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="How many to draw; every stratum gives two at least.",
)
@click.option("--protocol", default="default", show_default=True, help="A name, or a TOML file.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the draw and the plan.",
)
@click.option("--disputes", type=INPUT, help="Ids of items to be read in any case, drawn or not.")
@click.option(
    "--training", type=click.IntRange(0), default=0, help="Training cases, with feedback."
)
@click.option("--wordings", is_flag=True, help="Also have the wordings of questions read.")
@click.option("--data", type=INPUT, help="The folder the volumes are in, if they were moved.")
@json_option
def _import(folder: Path, source: Path, as_json: bool, **options: Any) -> None:
    """Import a random sample of a bench into a project, or restore an export into an empty station.

    Protocols: default, spatialmed-figure, spatialmed-card, ct-spatialvqa-audit.
    """
    opened, database = _open(folder)
    from situs.base.files import read_text
    from situs.bench import open_bench
    from situs.review.station.exported import restore_station
    from situs.review.station.protocol import load_protocol
    from situs.review.station.results import is_export
    from situs.review.station.sample import Sample, take_sample
    from situs.review.station.store.projects import add_project, check_project_name

    if is_export(source):
        counts = restore_station(database, source)
        print_json({"restored": counts}) if as_json else echo(f"restored {counts['events']} events")
        return
    bench, protocol = open_bench(source), load_protocol(options["protocol"])
    if not options["project"]:
        raise SitusError("a project needs a name", where="--project", fix="e.g. --project pilot")
    listed = read_text(options["disputes"]).split() if options["disputes"] else []
    sample = Sample(
        options["items"], options["seed"], tuple(listed), options["training"], options["wordings"]
    )
    with database.read() as db:
        check_project_name(db, options["project"])
    with progress_bar("taking in") as progress:
        taken = take_sample(
            opened, bench, protocol, sample, data=options["data"], progress=progress
        )
    with database.write() as db:
        result = add_project(db, taken, options["project"])
    if as_json:
        print_json(result)
        return
    rows = [[name, f"{r['drawn']:.0f}", f"{r['weight']:.2f}"] for name, r in result.strata.items()]
    kinds = ", ".join(counted(n, *_UNIT_WORDS[kind]) for kind, n in result.units.items())
    print_table(
        f"project {result.project}: {kinds}",
        ["stratum", "drawn", "each stands for"],
        rows,
        "; ".join(f"{n:,} left out: {why}" for why, n in result.left_out.items()),
    )


@command.command("assign")
@_DIR
@_PROJECT
@click.option("--readers", default="", help="Codes, comma-separated.")
@click.option("--freeze", is_flag=True, help="Hand out the lists; without this, only show them.")
@click.option(
    "--leaves", default="", metavar="CODE", help="Reassign the cases this reader has not finished."
)
@click.option("--lock", is_flag=True, help="Close the reading; agreement is shown from then on.")
@json_option
def _assign(
    folder: Path, project: str, readers: str, freeze: bool, leaves: str, lock: bool, as_json: bool
) -> None:
    """Plan who reads what, in balanced incomplete blocks."""
    _, database = _open(folder)
    from situs.review.station.store.leaving import release_reader
    from situs.review.station.store.projects import (
        find_project,
        freeze_plan,
        lock_project,
        preview_plan,
    )

    codes = [code.strip() for code in readers.split(",") if code.strip()]
    with database.write() as db:
        stored_project = find_project(db, project)
        if leaves or lock:
            changed: dict[str, Any] = {"state": "locked"}
            words = f"{project} is locked: agreement may be looked at, nothing can be read any more"
            if leaves:
                changed = release_reader(db, stored_project, leaves, "command line")
                withdrawn = counted(changed["withdrawn"], "case")
                words = f"{leaves}: {withdrawn} withdrawn, {changed['given']} given to others"
            else:
                lock_project(db, stored_project, "command line")
            print_json(changed) if as_json else echo(words)
            return
        plan = (
            freeze_plan(db, stored_project, codes, "command line")
            if freeze
            else preview_plan(db, stored_project, codes)
        )
    if as_json:
        print_json(
            {
                "frozen": freeze,
                "loads": plan.loads,
                "pairs": plan.pairs,
                "read_by_all": plan.read_by_all,
                "warnings": plan.warnings,
            }
        )
        return
    for text in plan.warnings:
        warn(text)
    title = f"{project}: {'frozen' if freeze else 'preview; add --freeze to hand it out'}"
    shared = "; ".join(f"{pair}: {n}" for pair, n in plan.pairs.items())
    caption = f"{counted(plan.read_by_all, 'unit')} read by all; shared: {shared}"
    loads = [[code, str(n)] for code, n in plan.loads.items()]
    print_table(title, ["reader", "cases"], loads, caption)


@command.command("export")
@_DIR
@_PROJECT
@out_option("a folder")
@click.option("--bench", type=INPUT, help="Write readers' answers as runs of it.")
@click.option("--volumes", is_flag=True, help="Copy the volumes too: a whole backup.")
@click.option("--overwrite", is_flag=True, help="Replace an existing export.")
@json_option
def _export(
    folder: Path,
    project: str,
    out: Path,
    bench: Path | None,
    volumes: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write readings, agreement, key errors, decisions, the audit sheet and the whole record."""
    _, database = _open(folder)
    from situs.bench import open_bench
    from situs.review.station.exported import export_station
    from situs.review.station.store.projects import find_project

    with database.read() as db:
        stored_project = find_project(db, project)
    opened = open_bench(bench) if bench is not None else None
    result = export_station(
        database, stored_project, out, bench=opened, volumes=volumes, overwrite=overwrite
    )
    if as_json:
        print_json(result)
    elif stored_project.state == "locked":
        _show_results(result, out)
    else:
        # A backup of every night may be printed where readers see it.
        readings = counted(result.readings, "reading")
        echo(f"{readings} so far in {out}; agreement is shown here once reading is locked")
    if result.problems:
        warn(f"the record is not intact: {result.problems[0]}; see situs review verify")
        raise click.exceptions.Exit(1)


def _show_results(result: ExportResult, out: Path) -> None:
    rows = [
        [name, str(a["n"]), *(_number(a, key) for key in ("raw", "ac1", "alpha", "kappa"))]
        for name, a in result.agreement.items()
    ]
    errors = result.key_errors
    share = "–" if errors["value"] is None else f"{errors['value']:.1%}"
    decided = ", ".join(f"{kind} {n}" for kind, n in result.decisions.items())
    caption = f"Key-error rate {share} of {errors['n']} keys; {decided}. Record: {result.head[:16]}"
    print_table(
        f"{result.readings} readings in {out}",
        ["question", "units", "equal", "AC1", "α", "κ"],
        rows,
        caption,
    )


def _number(entry: dict[str, Any], key: str) -> str:
    value, interval = entry.get(key), entry.get(f"{key}_ci95")
    if value is None:
        return "not estimable" if f"{key}_note" in entry else "–"
    return f"{value:.3f}" + (
        "" if interval is None else f" ({interval[0]:.2f} – {interval[1]:.2f})"
    )


@command.command("verify")
@_DIR
@json_option
def _verify(folder: Path, as_json: bool) -> None:
    """Check that nothing was changed, removed or added behind the station's back;
    exit code 1 if it was."""
    opened, database = _open(folder)
    from situs.review.station.store.verify import verify

    with database.read() as db:
        result = verify(db, opened)
    if as_json:
        print_json(result)
    else:
        echo(
            f"{result.events} events, {'intact' if result.ok else 'NOT INTACT'}; head {result.head}"
        )
        for text in result.problems:
            warn(text)
    if not result.ok:
        raise click.exceptions.Exit(1)
