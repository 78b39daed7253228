"""The commands that compute stops: one, tables, the worst ones, many, and what follows from them."""
