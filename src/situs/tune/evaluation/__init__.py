"""What the boxes did: three arms on held-out patients, paired."""
