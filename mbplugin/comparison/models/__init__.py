"""Whether two models are the same robot."""
