"""The commands that compute stops: one stop, tables, worst stops, sweeps, calibration and separation distances."""
