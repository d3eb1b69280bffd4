"""A loopback server that speaks the providers' protocols, for programs that bring their own client."""
