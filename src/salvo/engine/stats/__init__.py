"""What a number of runs can show. Pure, without dependencies, and exact where it says so."""
