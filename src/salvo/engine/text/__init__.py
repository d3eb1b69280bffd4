"""Text for people: formatting, escaping, colours, Markdown and HTML."""
