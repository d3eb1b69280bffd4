"""From the votes on a check to its result: who voted what, how consistently, and what it comes to."""
