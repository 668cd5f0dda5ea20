"""The pictures of a report, and what is drawn over them."""
