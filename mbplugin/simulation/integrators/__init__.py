"""Integrators: one per file in ``methods``, with their contract in ``contract`` and their names in ``registry``."""
