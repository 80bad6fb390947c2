"""The hub: the one daemon of a user, between editors and assistants."""
