"""JSON: bytes, canonical form, schemas, differences, typed values."""
