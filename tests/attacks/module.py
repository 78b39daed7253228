"""A stranger's module, lying in the working folder under a name that programs import: it leaves a mark."""

import os

with open(os.path.join(os.environ["MARKS"], __name__), "w"):  # noqa: PTH118, PTH123
    pass
