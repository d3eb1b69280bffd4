"""Import configurations of promptfoo as scenario files."""
