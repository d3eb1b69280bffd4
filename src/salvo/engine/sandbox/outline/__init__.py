"""The structure of a document beside its text: headings, paragraphs, lists, tables, pages."""
