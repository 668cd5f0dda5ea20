"""Fine-tuning: the configuration of a run, its plan, and the trainers."""
