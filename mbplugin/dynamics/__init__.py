"""Masses, forces and accelerations in absolute coordinates: M v̇ = F + Cᵀλ."""
