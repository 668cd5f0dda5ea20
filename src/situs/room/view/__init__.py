"""Series as they can be looked at, and what of the evidence a picture shows."""
