"""What a page explains at its end: rules and terms."""
