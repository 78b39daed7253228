"""The active constraints: locks, sticking brakes and friction, independent rows."""
