"""Reduction of the rows to joint rates, block by block, and null spaces."""
