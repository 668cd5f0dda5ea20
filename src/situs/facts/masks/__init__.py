"""Facts measured from masks."""
