"""The default rank tolerance, and the default number of sampled poses."""

#: Relative to the largest singular value of a block's scaled closure Jacobian.
DEFAULT_TOLERANCE = 1e-4
#: Poses sampled, at most, to tell a structural redundancy from a singular pose.
DEFAULT_SAMPLES = 8
