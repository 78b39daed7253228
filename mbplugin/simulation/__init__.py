"""Motion in time: integrators, projection onto the constraints, events, and the trajectory."""
