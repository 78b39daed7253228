"""The version of the distribution, and what it is for, as reports name it."""

__version__ = "0.1.0"
SUMMARY = "Find overconstraint, undetermined joint reactions and what brakes do to a robot."
