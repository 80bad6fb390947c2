"""Which editors can use the plugin, as they tell of themselves, and what lasts."""

from __future__ import annotations

import pytest

from vim_mcp.commands.places import is_passing, neovim, vim

ALL = "+channel +eval +job +timers"


@pytest.mark.parametrize(
    ("told", "version", "problem", "has_xdg"),
    [
        (f"VIM - Vi IMproved 9.0 (2022)\nIncluded patches: 1-1378, 1499\n{ALL}", "9.0.1378", "", False),
        (f"VIM - Vi IMproved 9.1 (2024)\nIncluded patches: 1-327\n{ALL}", "9.1.327", "", True),
        (f"VIM - Vi IMproved 9.2 (2026)\n{ALL}", "9.2.0", "", True),
        (f"VIM - Vi IMproved 8.2 (2019)\nIncluded patches: 1-4684\n{ALL}", "8.2.4684", "", False),
        (f"VIM - Vi IMproved 8.2 (2019)\nIncluded patches: 1-4683\n{ALL}", "8.2.4683", "older", False),
        (f"VIM - Vi IMproved 10.0 (2030)\nIncluded patches: 1\n{ALL}", "10.0.1", "", True),
        ("VIM - Vi IMproved 9.0 (2022)\n+eval -channel -job +timers", "9.0.0", "no +channel +job", False),
    ],
)  # fmt: skip
def test_a_vim_is_known_by_its_version(
    told: str, version: str, problem: str, has_xdg: bool
) -> None:
    found = vim("/usr/bin/vim", told)
    assert found is not None
    assert (found.version, found.has_xdg) == (version, has_xdg)
    assert problem in found.problem
    assert bool(problem) == bool(found.problem)


@pytest.mark.parametrize(
    ("told", "version", "problem"),
    [
        ("NVIM v0.7.2\nBuild type: Release", "0.7.2", ""),
        ("NVIM v0.12.0-dev-1+gabc\n", "0.12.0", ""),
        ("NVIM v0.4.4\n", "0.4.4", "it is older than 0.5"),
    ],
)
def test_a_neovim_is_known_by_its_version(told: str, version: str, problem: str) -> None:
    found = neovim("/usr/bin/nvim", told)
    assert found is not None
    assert (found.version, found.problem) == (version, problem)


def test_something_else_is_no_editor() -> None:
    assert vim("/bin/vi", "BusyBox v1.36 multi-call binary") is None
    assert neovim("/bin/nvim", "") is None


@pytest.mark.parametrize(
    ("path", "passing"),
    [
        ("/home/me/.cache/uv/archive-v0/x/lib/python3.12/site-packages/vim_mcp/_vim", True),
        ("/var/uv/environments-v2/vim-mcp-1/bin/vim-mcp", True),
        ("/home/me/.local/share/pipx/.cache/1/bin/vim-mcp", True),
        ("/home/me/.cache/pipx/1/bin/vim-mcp", True),
        ("/home/me/.local/share/pipx/venvs/vim-mcp/bin/vim-mcp", False),
        ("/home/me/.local/share/uv/tools/vim-mcp/bin/vim-mcp", False),
        ("/home/me/project/.venv/bin/vim-mcp", False),
    ],
)
def test_what_was_installed_for_one_run_is_passing(path: str, passing: bool) -> None:
    assert is_passing(path) == passing
