"""What closures do in an engine over two seconds: how far they open, and how noisy their force is."""
