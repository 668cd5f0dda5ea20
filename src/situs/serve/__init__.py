"""The reading room for any agent: the same viewer over the Model Context Protocol."""

from situs.serve.server import serve_mcp
from situs.serve.studies import Studies, studies_of

__all__ = ["Studies", "serve_mcp", "studies_of"]
