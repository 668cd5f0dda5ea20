"""What a reply's words are: tokens, clauses, claims, tables and JSON, in several languages."""
