"""Changed patients, and what the right answers become."""
