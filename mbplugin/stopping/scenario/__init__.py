"""What stops, from where and how."""
