"""Masses and inertias: what is impossible, copied, or contradicts the robot."""
