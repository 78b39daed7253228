"""Compiled recursions over the spanning tree, and the flat arrays they work on.

World axes throughout, every body's quantities at its centre of mass, so inertias move to the parent by
a shift of reference point and no rotation. Bodies joined by fixed pairs are one composite body here.
"""
