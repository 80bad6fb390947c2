"""`harness` and `python -m harness`, also where vim-mcp was installed without what it needs."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns the exit status."""
    try:
        from .cli import main as run
    except ModuleNotFoundError as error:
        sys.stderr.write(
            f"harness: {error.name} is missing; install vim-mcp with its extra: "
            "pip install '.[harness]'\n"
        )
        return 1
    return run()


if __name__ == "__main__":
    sys.exit(main())
