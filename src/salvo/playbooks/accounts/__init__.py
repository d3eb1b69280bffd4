"""People who may log in to the server: users with roles, their sessions, and the throttling of guesses."""
