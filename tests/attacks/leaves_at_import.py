"""A plug-in whose module cannot be imported to its end."""

import sys

sys.exit(0)
