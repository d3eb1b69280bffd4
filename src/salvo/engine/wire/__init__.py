"""One request out, one reply back: HTTP, retries, recording and replay, each a wire around a wire."""
