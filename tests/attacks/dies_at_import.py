"""A plug-in whose module cannot be imported to its end."""

import os

os._exit(0)
