"""HTML files for people: no script, no request to anyone, and nothing foreign in them that could be markup."""
