"""Conversations: the user's side, and the turns in which it alternates with the agent."""
