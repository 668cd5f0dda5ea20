"""What one gets without looking."""
