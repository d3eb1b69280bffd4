"""The API, one subject per file."""
