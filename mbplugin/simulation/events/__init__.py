"""Events: their schedule, how they are found, and what they are."""
