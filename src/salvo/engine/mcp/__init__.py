"""The Model Context Protocol: a small client over pipes and over the wire, and the serving of tools."""
