"""Integrators: one per file in ``methods``; their contract is in ``contract``, their names in ``registry``."""
