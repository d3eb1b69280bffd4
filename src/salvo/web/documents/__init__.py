"""Extract the text of uploaded files, in a separate process."""
