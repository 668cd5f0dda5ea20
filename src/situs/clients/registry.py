"""Clients by kind; what a kind needs is imported only when it is asked for."""

from __future__ import annotations

import importlib

from situs.clients.protocol import Client, Settings
from situs.clients.settings import GENERATION, settings_of
from situs.clients.spec import Spec
from situs.clients.timeouts import Timeouts
from situs.errors import SitusError, did_you_mean

__all__ = ["CLIENTS", "make_client", "settings_for"]

CLIENTS = {
    "openai": "situs.clients.openai.client:OpenAIClient",
    "plugin": "situs.clients.plugin:PluginClient",
    "hf": "situs.clients.hf.client:make_hf",
}
"""Kind → what makes a client of a spec."""


def make_client(spec: Spec, *, timeouts: Timeouts | None = None) -> Client:
    """The client a spec names. `timeouts` are for what goes over a wire."""
    if spec.kind not in CLIENTS:
        raise SitusError(
            f"unknown model {spec.kind!r}", where="--model", fix=did_you_mean(spec.kind, CLIENTS)
        )
    module, _, name = CLIENTS[spec.kind].partition(":")
    make = getattr(importlib.import_module(module), name)
    client: Client = (
        make(spec, timeouts) if timeouts is not None and spec.kind == "openai" else make(spec)
    )
    return client


def settings_for(client: Client, spec: Spec) -> Settings:
    """How the spec wants the client to generate."""
    own: Settings | None = getattr(client, "settings", None)
    general = {key: value for key, value in spec.settings.items() if key in GENERATION}
    return own if own is not None else settings_of(Spec(spec.kind, spec.name, spec.url, general))
