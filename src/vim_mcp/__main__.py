"""`python -m vim_mcp` is `vim-mcp`."""

import sys

from vim_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
