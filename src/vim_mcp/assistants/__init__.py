"""Assistants: the MCP face of the hub."""
