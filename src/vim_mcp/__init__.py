"""vim-mcp: joins running Vims and Neovims with AI assistants."""

__version__ = "0.1.0"

#: Version of the editor and forwarder protocol. A hub speaks this one and the one before.
PROTOCOL = 1
