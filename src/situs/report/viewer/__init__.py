"""What the page's script reads: items, answers, derivations and facts."""
