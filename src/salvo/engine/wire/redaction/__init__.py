"""What is removed from a request or a reply before it is stored: credentials in a query, and reasoning."""
