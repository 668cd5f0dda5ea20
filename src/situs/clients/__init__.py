"""Models behind a wire or in memory: messages, transport, cache and cost."""

from situs.clients._protocol import Client, Image, Message, Part, Reply, Request, Settings, ToolCall, VolumeInput
from situs.clients._spec import Spec, parse_spec

__all__ = [
    "Client",
    "Image",
    "Message",
    "Part",
    "Reply",
    "Request",
    "Settings",
    "Spec",
    "ToolCall",
    "VolumeInput",
    "parse_spec",
]
