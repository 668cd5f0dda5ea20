"""What a profile lets one see, and which items it hides."""
