"""Cases and matrix: one scenario file as many scenarios, one for each cell."""
