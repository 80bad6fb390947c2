"""`:VimMCPDoctor` and `:checkhealth vim_mcp`: the editor's half of the doctor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Editor, Hub, Sandbox, wait_until
from tests.integration.conftest import ALONE
from vim_mcp import paths

Start = Callable[..., Editor]


def told(editor: Editor) -> str:
    """What :VimMCPDoctor says."""
    return editor.command("VimMCPDoctor")


def test_the_editor_tells_that_all_is_well(editor: Editor, hub: Hub) -> None:
    lines = told(editor).strip().splitlines()
    assert [line.split()[0] for line in lines] == ["ok"] * 6
    name = "Neovim" if editor.kind == "nvim" else "Vim"
    assert f"{name} {editor.version}, plugin 0.1.0" in lines[0]
    assert lines[4].endswith(f"connected as {editor.instance_id} to hub 0.1.0, pid {hub.pid}")
    editor.command("VimMCPPause")
    assert "warning  assistants may look but not act -- :VimMCPResume" in told(editor)
    editor.command("let b:vim_mcp_private = 1")
    assert "private buffers, which no assistant sees: 1" in told(editor)
    assert editor.messages() == ""


def test_checkhealth_shows_the_same(nvim: Editor) -> None:
    nvim.command("VimMCPPause | checkhealth vim_mcp")
    text = "\n".join(nvim.lines())
    assert f"Neovim {nvim.version}, plugin 0.1.0" in text
    assert f"connected as {nvim.instance_id} to hub" in text
    assert "assistants may look but not act" in text
    assert ":VimMCPResume" in text
    assert "ERROR" not in text


#: What is wrong, and what the editor then says. {run} is the runtime directory.
UNWELL: dict[str, tuple[dict[str, Any], str]] = {
    "option": (
        {"rc_extra": "let g:vim_mcp_autostart = 'no'"},
        "warning  g:vim_mcp_autostart must be 0 or 1; the default is used -- :help",
    ),
    "program": (
        {"rc_extra": "let g:vim_mcp_command = '/gone/vim-mcp'"},
        "error    the program /gone/vim-mcp is not found, so this editor cannot start the hub",
    ),
    "shy": (
        {"env": {"SUDO_USER": "somebody"}},
        "warning  not connected, because it runs under sudo -- :VimMCPConnect connects all the same",
    ),
    "disabled": (
        {"rc_extra": "let g:vim_mcp_enabled = 0"},
        "warning  not connected, because g:vim_mcp_enabled is 0",
    ),
    "no hub": ({}, "not connected yet (waiting): No hub "),
    "twice": (
        {"rc_extra": "let &runtimepath .= ',' . $HOME . '/twice'"},
        "warning  the plugin is installed more than once: ",
    ),
}


@pytest.mark.private
@pytest.mark.parametrize("name", UNWELL)
def test_the_editor_tells_what_is_wrong(new_editor: Start, sandbox: Sandbox, name: str) -> None:
    options, words = UNWELL[name]
    (sandbox.home / "twice/plugin").mkdir(parents=True)
    (sandbox.home / "twice/plugin/vim_mcp.vim").touch()
    extra = f"{ALONE['rc_extra']}\n{options.get('rc_extra', '')}"
    editor = new_editor(**ALONE | options | {"rc_extra": extra})
    wait_until(lambda: words in told(editor), what=words, detail=lambda: told(editor))
    assert editor.messages() == ""


@pytest.mark.private
def test_the_editor_tells_of_a_directory_open_to_others(
    new_editor: Start, sandbox: Sandbox
) -> None:
    sandbox.run.chmod(0o755)
    editor = new_editor(**ALONE)
    assert f"error    directory of the hub: {sandbox.run} is not a directory of ours" in told(
        editor
    )
    assert "(dir, rwxr-xr-x)" in told(editor)


def test_an_editor_without_what_it_takes_says_what_is_needed(new_editor: Start) -> None:
    editor = new_editor(
        plugin=Path(paths.plugin_dir()), wait="started", rc_extra="let g:loaded_vim_mcp = 1"
    )
    editor.command("command! -bar VimMCPDoctor call vim_mcp#Doctor()")
    assert " is needed" in told(editor)
