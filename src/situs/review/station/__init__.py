"""The reading station: radiologists vet a bench in a browser, blinded, and nothing is lost.

`folder`, `protocol`, `plan`, `slices` and `statistics` need nothing but the core; `store` needs
SQLAlchemy and `web` FastAPI, both of the extra `review`.
"""
