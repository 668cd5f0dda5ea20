"""The station's database: tables, migrations,
the chain of events, and what is done in one transaction."""
