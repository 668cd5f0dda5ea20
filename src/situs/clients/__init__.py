"""Models behind a wire or in memory: messages, transport, cache and cost."""

from situs.clients._ask import Record, ask
from situs.clients._asking import Asking
from situs.clients._budget import Spent
from situs.clients._care import check_may_ask
from situs.clients._limits import Limits
from situs.clients._loop import run_to_end
from situs.clients._plugin import ObjectClient
from situs.clients._prices import Price, price_of
from situs.clients._protocol import Client, Image, Message, Part, Reply, Request, Settings, ToolCall, VolumeInput
from situs.clients._purge import CachePart, cache_parts, purge_caches
from situs.clients._registry import CLIENTS, make_client, settings_for
from situs.clients._response_cache import CACHE_FILE, ResponseCache
from situs.clients._settings import GENERATION, settings_of
from situs.clients._spec import Spec, parse_spec
from situs.clients._tally import Asked, Tally
from situs.clients._timeouts import Timeouts

__all__ = [
    "CACHE_FILE",
    "CLIENTS",
    "GENERATION",
    "Asked",
    "Asking",
    "CachePart",
    "Client",
    "Image",
    "Limits",
    "Message",
    "ObjectClient",
    "Part",
    "Price",
    "Record",
    "Reply",
    "Request",
    "ResponseCache",
    "Settings",
    "Spec",
    "Spent",
    "Tally",
    "Timeouts",
    "ToolCall",
    "VolumeInput",
    "ask",
    "cache_parts",
    "check_may_ask",
    "make_client",
    "parse_spec",
    "price_of",
    "purge_caches",
    "run_to_end",
    "settings_for",
    "settings_of",
]
