"""Step loops, compiled and in Python, and the kernel state they work on."""
