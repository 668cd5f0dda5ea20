"""What training data would really teach, proved example by example."""
