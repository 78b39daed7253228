"""Rules about how a file is read: an undeclared ground, nothing that moves, joints off their frames."""
