"""Loop closures that a simulator supports: cuts of the loops, closure types, and drift."""
