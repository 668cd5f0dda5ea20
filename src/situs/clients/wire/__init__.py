"""What all clients that ask over HTTP share:
the way there and back, keys, and how servers say no."""
