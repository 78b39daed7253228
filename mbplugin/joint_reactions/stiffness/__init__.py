"""Stiffness of bodies and pairs, and the physical reactions that follow from it."""
