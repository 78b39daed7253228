"""What must not change a verdict, on every robot of the tests and on random mechanisms with loops.

A source is a model at a pose; a transformation takes it to one that is the same mechanism (in other
units, elsewhere, under other names, in another order, cut elsewhere, in a mirror, with a link in two
parts) or the same and a pendulum. Degree of redundancy, mobility and the reaction components that are
unique must then be the same ones.
"""
