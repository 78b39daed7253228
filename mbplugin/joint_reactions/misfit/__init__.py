"""What a misfit of an overconstrained mechanism costs, in newtons."""
