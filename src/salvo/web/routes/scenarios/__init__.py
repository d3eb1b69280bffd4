"""The API over stored scenario runs: batches, their results and labels, and single runs."""
