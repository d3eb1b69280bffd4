"""Talking to a model: one method, `ChatModel.complete(ChatRequest) -> ChatReply`, whole replies only."""
