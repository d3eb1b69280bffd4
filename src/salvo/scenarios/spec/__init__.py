"""A scenario file and everything it names: schema, loading, validation, project code."""
