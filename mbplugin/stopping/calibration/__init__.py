"""Brakes and ramps of a robot from its measured stops."""
