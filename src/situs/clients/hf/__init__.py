"""Models of Hugging Face in this process."""
