"""Many documents at once: the matrix of documents and checks, and its files."""
