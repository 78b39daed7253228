"""The documents of stops: one, many, the worst ones, tables, and what is fitted to measured ones."""
