"""The fixtures (editor, hub, assistant …) are those of harness.pytest_plugin, an entry point."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Say what is missing, rather than let every test fail for want of a fixture."""
    if not config.pluginmanager.has_plugin("harness"):
        raise pytest.UsageError("the package is not installed here; run `make venv`")
