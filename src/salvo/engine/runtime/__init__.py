"""Time, threads, processes, files, prices and redaction."""
