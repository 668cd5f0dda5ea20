"""Clients by kind; what a kind needs is imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable

import msgspec

from situs.base.plugins import offered
from situs.clients.pool import ServerPool, server_urls
from situs.clients.protocol import Client, Settings
from situs.clients.reach import Reach
from situs.clients.settings import GENERATION, settings_of
from situs.clients.spec import ENTRY_POINTS, Spec
from situs.errors import SitusError, did_you_mean

__all__ = ["CLIENTS", "check_kind", "make_client", "settings_for"]

MakeClient = Callable[[Spec, Reach | None], Client]

CLIENTS = {
    "openai": "situs.clients.openai.client:OpenAIClient",
    "anthropic": "situs.clients.anthropic.client:make_anthropic",
    "gemini": "situs.clients.gemini.client:make_gemini",
    "plugin": "situs.clients.plugin:PluginClient",
    "hf": "situs.clients.hf.client:make_hf",
}
"""Kind → what makes a client of a spec."""


def check_kind(kind: str, where: str, others: Iterable[str] = ()) -> None:
    """An error if no client is of this kind, shipped or offered by an installed package.

    `others` are kinds of models that are no clients, for "did you mean".
    """
    known = {*CLIENTS, *offered(ENTRY_POINTS)}
    if kind not in known:
        problem = f"unknown model {kind!r}"
        fix = did_you_mean(kind, [*others, *sorted(known)])
        served = f"for a model of a server write e.g. openai:{kind}@http://localhost:8000/v1"
        if fix.startswith("available"):
            fix = f"{served} (situs list models shows all kinds)"
        raise SitusError(problem, where=where, fix=fix)


def make_client(spec: Spec, *, reach: Reach | None = None) -> Client:
    """The client a spec names. `reach` are for what goes over a wire.

    A spec with several addresses is one model behind several servers.
    """
    check_kind(spec.kind, "--model")
    urls = server_urls(spec.url)
    if len(urls) > 1:
        members = [(url, msgspec.structs.replace(spec, url=url)) for url in urls]
        clients = [(url, make_client(member, reach=reach)) for url, member in members]
        return ServerPool(str(spec), clients)
    # A kind of another package is an object behind the same wrapper as `plugin:module:object`.
    module, _, name = CLIENTS[spec.kind if spec.kind in CLIENTS else "plugin"].partition(":")
    make: MakeClient = getattr(importlib.import_module(module), name)
    return make(spec, reach)


def settings_for(client: Client, spec: Spec) -> Settings:
    """How the spec wants the client to generate."""
    general = {key: value for key, value in spec.settings.items() if key in GENERATION}
    client_settings = client.settings
    return (
        client_settings
        if client_settings is not None
        else settings_of(Spec(spec.kind, spec.name, spec.url, general))
    )
