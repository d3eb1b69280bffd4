"""Reading the text of an uploaded file in a process of its own."""
