"""A playbook file: schema, validation and the library."""
