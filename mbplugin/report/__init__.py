"""Reports: what a run found, as text for people and as JSON for programs."""
