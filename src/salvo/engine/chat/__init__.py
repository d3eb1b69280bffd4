"""Chat models behind one method, `ChatModel.complete(ChatRequest) -> ChatReply`, without streaming."""
