"""Models behind a wire or in memory: messages, transport, cache and cost."""

from situs.clients.asking.budget import Budget, Spent
from situs.clients.asking.care import Terms, check_may_ask, check_terms
from situs.clients.asking.forecast import Forecast, Observed, forecast
from situs.clients.asking.limits import Limits
from situs.clients.asking.loop import run_to_end
from situs.clients.asking.options import Asking
from situs.clients.asking.pace import backoff
from situs.clients.asking.prices import Price, price_of
from situs.clients.asking.session import Record, ask
from situs.clients.asking.tally import Asked, Tally
from situs.clients.plugin import ObjectClient
from situs.clients.protocol import (
    BatchTrouble,
    Client,
    ClientDefaults,
    Image,
    Message,
    Part,
    Reply,
    Request,
    Settings,
    ToolCall,
    VolumeInput,
)
from situs.clients.purge import CachePart, cache_parts, purge_caches
from situs.clients.reach import Reach
from situs.clients.registry import CLIENTS, check_kind, make_client, settings_for
from situs.clients.response_cache import CACHE_FILE, ResponseCache
from situs.clients.settings import GENERATION, settings_of
from situs.clients.spec import Spec, parse_spec

__all__ = [
    "CACHE_FILE",
    "CLIENTS",
    "GENERATION",
    "Asked",
    "Asking",
    "BatchTrouble",
    "Budget",
    "CachePart",
    "Client",
    "ClientDefaults",
    "Forecast",
    "Image",
    "Limits",
    "Message",
    "ObjectClient",
    "Observed",
    "Part",
    "Price",
    "Reach",
    "Record",
    "Reply",
    "Request",
    "ResponseCache",
    "Settings",
    "Spec",
    "Spent",
    "Tally",
    "Terms",
    "ToolCall",
    "VolumeInput",
    "ask",
    "backoff",
    "cache_parts",
    "check_kind",
    "check_may_ask",
    "check_terms",
    "forecast",
    "make_client",
    "parse_spec",
    "price_of",
    "purge_caches",
    "run_to_end",
    "settings_for",
    "settings_of",
]
