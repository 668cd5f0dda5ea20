"""Data where it lies: addresses such as `s3://bucket/scans`,
read through a bounded cache and written whole."""

from situs.base.remote.gate import arrive, is_stand_in, local_input, named_file, present
from situs.base.remote.urls import in_urls, is_url, located, url_of

__all__ = [
    "arrive",
    "in_urls",
    "is_stand_in",
    "is_url",
    "local_input",
    "located",
    "named_file",
    "present",
    "url_of",
]
