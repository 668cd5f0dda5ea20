"""Revisions of the schema, oldest first; Alembic runs what a database still lacks."""
