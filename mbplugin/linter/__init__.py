"""Rules, findings and the lint run."""
