"""The largest number that a mechanism may contain."""

#: No length, mass or inertia of a machine is larger (the sun has 2e30 kg), and the squares and
#: determinants of what is below cannot overflow.
LARGEST = 1e30
