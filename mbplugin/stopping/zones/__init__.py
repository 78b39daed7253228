"""Distances and zones that follow from stops: separation distances, and the volume that a stop sweeps."""
