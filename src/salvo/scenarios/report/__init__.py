"""Reports about batches and runs: for a terminal, as HTML and Markdown, and as files for other programs."""
