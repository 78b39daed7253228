"""Compiler of the kernels, and cache of their machine code."""
