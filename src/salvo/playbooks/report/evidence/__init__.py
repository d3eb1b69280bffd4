"""Evidence: quotes of an evaluator, found in the text and cited with their places."""
