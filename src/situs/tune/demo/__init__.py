"""The whole way of training on two cores:
a tiny model, synthetic slices, both arms, and the table."""
