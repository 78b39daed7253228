"""The files with which a repository lints its robots: what is found in it, their texts, and their writing."""
