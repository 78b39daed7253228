"""Integrators, one per file. The contract of each is in :mod:`mbplugin.simulation.integrators.contract`."""
