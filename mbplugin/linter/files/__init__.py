"""Which files are linted, side by side, against what was found before."""
