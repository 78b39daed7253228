"""MB3xx: joint reactions that a rigid model does not determine."""
