"""The API over what people decide about reports."""
