"""The API, one subject a file."""
