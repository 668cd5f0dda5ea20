"""The station's pages and its interface `/api/v1`."""
