"""What a reply puts in order or in place: ranks, directions, marks that share a structure."""
