"""Runs on this machine in a browser, while they go on:
what was asked, what came back, what it cost."""

from situs.view.items import ItemPage
from situs.view.server import serve_runs, view_app
from situs.view.watching import RunState, WatchedRuns

__all__ = ["ItemPage", "RunState", "WatchedRuns", "serve_runs", "view_app"]
