"""The version and the summary of the distribution, as reports show them."""

__version__ = "1.0.0"
SUMMARY = "Find overconstraint, undetermined joint reactions and what brakes do to a robot."
