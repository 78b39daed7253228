"""Which constraints hold now: locks, brakes and friction that stick, independent rows."""
