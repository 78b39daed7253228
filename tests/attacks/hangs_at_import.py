"""A plug-in whose module cannot be imported to its end."""

while True:
    pass
