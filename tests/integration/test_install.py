"""`vim-mcp install` in a home of its own: what it writes, what it leaves alone, and what then works."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Sandbox, Stage, hub_status, wait_until
from harness.editors import KINDS
from harness.screen import Terminal
from tests.integration.shell import Shell, tree
from vim_mcp import paths
from vim_mcp.commands.package import help_tags

pytestmark = pytest.mark.private

PLACES = {
    "vim": ".vim/pack/vim-mcp/start/vim-mcp",
    "nvim": ".data/nvim/site/pack/vim-mcp/start/vim-mcp",
}
FLAGS = {"vim": "--vim", "nvim": "--neovim"}


@pytest.fixture
def shell(sandbox: Sandbox) -> Shell:
    """A shell with both editors on PATH."""
    shell = Shell(sandbox)
    shell.offer_editors(*PLACES)
    return shell


@pytest.fixture
def home(sandbox: Sandbox) -> Path:
    return sandbox.home


@pytest.fixture
def seen(sandbox: Sandbox) -> Callable[[], dict[str, object]]:
    """All files that install could touch, as they are now."""
    return lambda: tree(sandbox.home, sandbox.project())


# --- what then works --------------------------------------------------------------------------


def show_help(kind: str, shell: Shell, env: dict[str, str]) -> str:
    """Start an editor as its user would, with no arguments, and ask for our help."""
    terminal = Terminal([KINDS[kind].find()], env=env, cwd=shell.cwd)
    try:
        wait_until(lambda: "~" in terminal.look(), what=f"{kind} to draw its screen")
        terminal.write(b":help vim-mcp | only\r")
        wait_until(
            lambda: "An assistant sees" in terminal.look() or "E149" in terminal.look(),
            what="the help or an error",
            detail=lambda: terminal.look().framed(),
        )
        return str(terminal.look())
    finally:
        terminal.close()


def wait_connected(kind: str, shell: Shell, env: dict[str, str]) -> None:
    """Start an editor as its user would, with no arguments, and wait until it is connected."""
    terminal = Terminal([KINDS[kind].find()], env=env, cwd=shell.cwd)
    try:
        wait_until(
            lambda: (
                [i["editor"] for i in (hub_status(shell.sandbox) or {}).get("instances", ())]
                == [kind]
            ),
            seconds=20,
            what=f"{kind} to be connected",
            detail=lambda: terminal.look().framed(),
        )
    finally:
        terminal.close()
    wait_until(
        lambda: not (hub_status(shell.sandbox) or {}).get("instances"), what=f"{kind} to be gone"
    )


@pytest.mark.parametrize("how", ["--symlink", "--copy"])
@pytest.mark.parametrize("kind", PLACES)
def test_an_installed_plugin_is_loaded_and_connects(
    stage: Stage, shell: Shell, kind: str, how: str
) -> None:
    stage.need_hub()
    assert shell.run("install", FLAGS[kind], how).code == 0
    wait_connected(kind, shell, shell.env())
    assert "An assistant sees" in show_help(kind, shell, shell.env())
    assert shell.run("install", "--uninstall").code == 0
    assert "E149" in show_help(kind, shell, shell.env())


@pytest.mark.parametrize("kind", PLACES)
def test_an_editor_with_a_poor_path_starts_the_hub(shell: Shell, kind: str) -> None:
    assert shell.run("install", FLAGS[kind]).code == 0
    # As from a dock: vim-mcp is nowhere on it.
    wait_connected(kind, shell, shell.env(PATH=str(shell.bin)))


@pytest.mark.parametrize("kind", PLACES)
def test_a_recorded_command_that_others_could_write_is_not_run(
    shell: Shell, home: Path, kind: str
) -> None:
    shell.run("install", FLAGS[kind])
    trap = shell.offer("trap", "#!/bin/sh\n: >$0.sprung\n")
    record = home / ".state/vim-mcp/command"
    record.write_text(f"{trap}\n")
    record.chmod(0o666)
    terminal = Terminal([KINDS[kind].find()], env=shell.env(), cwd=shell.cwd)
    try:
        wait_until(lambda: "~" in terminal.look(), what=f"{kind} to draw its screen")
        terminal.write(b":VimMCPConnect\r:VimMCPStatus\r")
        wait_until(
            lambda: "is not installed" in terminal.look(),
            what="the missing program to be told",
            detail=lambda: terminal.look().framed(),
        )
    finally:
        terminal.close()
    assert not (shell.bin / "trap.sprung").exists()


def test_the_help_tags_are_those_that_the_editor_makes(tmp_path: Path) -> None:
    doc = Path(paths.plugin_dir()) / "doc"
    mine = help_tags(str(doc))
    (tmp_path / "vim_mcp.txt").write_bytes((doc / "vim_mcp.txt").read_bytes())
    vim = [KINDS["vim"].find(), "-u", "NONE", "-es", f"+helptags {tmp_path}", "+qall"]
    subprocess.run(vim, timeout=30, check=False, stdin=subprocess.DEVNULL)
    assert mine == (tmp_path / "tags").read_bytes()


# --- what is written --------------------------------------------------------------------------


def test_install_is_for_all_that_is_found_and_says_every_file(
    shell: Shell, home: Path, seen: Callable[[], Any]
) -> None:
    shell.offer_claude()
    before = seen()
    done = shell.run("install")
    assert (done.code, done.err) == (0, "")
    for place in PLACES.values():
        assert f"made          ~/{place}\n" in done.out
        assert os.readlink(home / place / "plugin") == str(Path(paths.plugin_dir()) / "plugin")
    command = home / ".state/vim-mcp/command"
    assert command.read_text() == f"{shell.program}\n"
    assert command.stat().st_mode & 0o777 == 0o600
    assert shell.claude_calls() == [
        ["mcp", "add", "--scope", "user", "vim", "--", str(shell.program)]
    ]
    assert "Not touched: vimrc and init files" in done.out
    touched = {Path(path).relative_to(home).parts[:2] for path in seen().keys() - before.keys()}
    packages = {(".vim",), (".data",), (".state",), (".vim", "pack"), (".data", "nvim")}
    assert touched <= packages | {(".state", "vim-mcp"), (".claude.json",)}


@pytest.mark.parametrize("how", ["--symlink", "--copy"])
def test_what_is_in_the_package_is_the_plugin_alone(shell: Shell, home: Path, how: str) -> None:
    shell.run("install", "--vim", how)
    place = home / PLACES["vim"]
    held = sorted(path.name for path in place.iterdir())
    assert held == [".vim-mcp-install", "autoload", "doc", "lua", "plugin"]
    assert sorted(path.name for path in (place / "doc").iterdir()) == ["tags", "vim_mcp.txt"]
    # Nothing is written through a link, into the installed program.
    assert not (place / "doc").is_symlink()
    assert not (place / "doc/tags").is_symlink()
    assert (place / "autoload").is_symlink() == (how == "--symlink")
    assert (place / "autoload/vim_mcp/hub.vim").is_file()


def test_a_second_install_changes_nothing(shell: Shell, seen: Callable[[], Any]) -> None:
    shell.offer_claude()
    shell.run("install", "--copy")
    before = seen()
    done = shell.run("install", "--copy")
    assert done.code == 0
    assert done.out.count("  already ") == 4
    assert seen() == before
    assert len(shell.claude_calls()) == 1


def test_uninstall_leaves_what_was_there_before(shell: Shell, seen: Callable[[], Any]) -> None:
    shell.offer_claude()
    (shell.sandbox.home / ".claude.json").write_text('{"mcpServers": {"x": {"command": "y"}}}')
    (shell.sandbox.home / ".vimrc").write_text("set number\n")
    before = seen()
    shell.run("install", "--vim", "--neovim", "--claude", "--project")
    assert seen() != before
    done = shell.run("install", "--uninstall", "--vim", "--neovim", "--claude", "--project")
    assert (done.code, done.err) == (0, "")
    assert seen() == before
    again = shell.run("install", "--uninstall")
    assert (again.code, again.err) == (0, "")
    assert again.out.count("  not there ") == 4


@pytest.mark.parametrize("more", [[], ["--uninstall"], ["--copy", "--project"]])
def test_a_dry_run_changes_nothing(shell: Shell, seen: Callable[[], Any], more: list[str]) -> None:
    shell.offer_claude()
    if "--uninstall" in more:
        shell.run("install")
    before, calls = seen(), shell.claude_calls()
    done = shell.run("install", "--dry-run", *more)
    assert done.code == 0
    assert "  would " in done.out
    assert seen() == before
    assert shell.claude_calls() == calls


def test_a_link_made_by_hand_and_an_older_copy_are_replaced(shell: Shell, home: Path) -> None:
    vim, nvim = (home / place for place in PLACES.values())
    vim.parent.mkdir(parents=True)
    vim.symlink_to(paths.plugin_dir())
    shell.run("install", "--neovim", "--copy")
    mark = nvim / ".vim-mcp-install"
    mark.write_text(mark.read_text().replace("0.1.0", "0.0.1"))
    info = nvim / "autoload/vim_mcp/info.vim"
    info.write_text(info.read_text().replace("'0.1.0'", "'0.0.1'"))
    (nvim / "plugin/of_old.vim").write_text("\n")
    done = shell.run("install")
    assert done.code == 0
    assert f"replaced      ~/{PLACES['vim']}" in done.out
    assert f"instead of    a link to {paths.plugin_dir()}\n" in done.out
    assert "instead of    version 0.0.1" in done.out
    assert not vim.is_symlink()
    assert not (nvim / "plugin/of_old.vim").exists()


def test_a_broken_link_is_replaced(shell: Shell, home: Path) -> None:
    place = home / PLACES["vim"]
    place.parent.mkdir(parents=True)
    place.symlink_to(home / "gone")
    done = shell.run("install", "--vim")
    assert f"instead of    a link to {home}/gone, which is gone\n" in done.out
    assert (place / "plugin/vim_mcp.vim").is_file()


@pytest.mark.parametrize("more", [[], ["--uninstall"]])
def test_what_others_put_there_is_refused_and_left(
    shell: Shell, home: Path, seen: Callable[[], Any], more: list[str]
) -> None:
    place = home / PLACES["vim"]
    (place / "plugin").mkdir(parents=True)
    (place / "plugin/theirs.vim").write_text("echo\n")
    before = tree(place)
    done = shell.run("install", "--vim", "--neovim", *more)
    assert done.code == 1
    assert f"{place} was not put there by vim-mcp install and is left as it is" in done.err
    assert tree(place) == before
    # The other editor is served all the same.
    assert (home / PLACES["nvim"]).exists() == (not more)


def test_vims_directory_is_the_one_that_vim_reads(shell: Shell, home: Path) -> None:
    (home / ".config/vim").mkdir(parents=True)
    (home / ".config/vim/vimrc").write_text("")
    old, new = ("9.0", "1-1378"), ("9.1", "1-1230")
    for version, patches in (old, new):
        (shell.bin / "vim").unlink()
        features = "+eval +channel +job +timers"
        shell.offer(
            "vim",
            f"#!/bin/sh\necho 'VIM - Vi IMproved {version} (x)\nIncluded patches: {patches}\n{features}'\n",
        )
        shell.run("install", "--vim")
        in_xdg = (home / ".config/vim/pack/vim-mcp/start/vim-mcp").is_dir()
        assert in_xdg == (version == "9.1")
        shell.run("install", "--uninstall", "--vim")
    (home / ".vimrc").write_text("")
    shell.run("install", "--vim")
    assert (home / PLACES["vim"]).is_dir()


def test_neovims_appname_is_honoured(shell: Shell, home: Path) -> None:
    assert shell.run("install", "--neovim", NVIM_APPNAME="mine").code == 0
    assert (home / ".data/mine/site/pack/vim-mcp/start/vim-mcp/plugin/vim_mcp.vim").is_file()


# --- what cannot be done ----------------------------------------------------------------------

OLD = "#!/bin/sh\necho 'VIM - Vi IMproved 8.1 (2018)\nIncluded patches: 1-2269\n{}'\n"
ALL = "+eval +channel +job +timers"
TINY = "#!/bin/sh\necho 'VIM - Vi IMproved 9.0 (2022)\nIncluded patches: 1-1378\n-channel -eval'\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [(OLD.format(ALL), "it is older than 8.2.4684"), (TINY, "it has no +eval +channel +job")],
)
def test_an_editor_that_cannot_use_it_is_named(sandbox: Sandbox, text: str, why: str) -> None:
    shell = Shell(sandbox)
    shell.offer("vim", text)
    before = tree(sandbox.home)
    done = shell.run("install")
    assert done.code == 1
    assert why in done.out
    assert "no Vim from 8.2.4684 and no Neovim from 0.5 is on PATH" in done.err
    assert tree(sandbox.home) == before
    # Asked for by name it is done, and said.
    done = shell.run("install", "--vim")
    assert done.code == 0
    assert f"the plugin does nothing in this one: {why}" in done.out


def test_without_an_editor_it_says_so(sandbox: Sandbox) -> None:
    done = Shell(sandbox).run("install")
    assert (done.code, done.out) == (1, "")
    assert done.err == "vim-mcp: no Vim from 8.2.4684 and no Neovim from 0.5 is on PATH\n"


def test_a_home_that_cannot_be_written_is_told_in_a_line(shell: Shell) -> None:
    done = shell.run("install", "--vim", HOME="/proc")
    assert done.code == 1
    assert done.err.startswith("vim-mcp: /proc/.vim")
    assert "  made " not in done.out
    assert "Traceback" not in done.err


def test_a_program_in_a_cache_is_not_recorded(shell: Shell, home: Path) -> None:
    # As under uvx: all of this installation is in uv's cache.
    cache = str(Path(paths.plugin_dir()).parent)
    done = shell.run("install", "--vim", "--claude", UV_CACHE_DIR=cache)
    assert done.code == 1
    assert "runs from a cache that will be emptied: install it for good" in done.err
    assert not (home / ".state/vim-mcp/command").exists()
    # The plugin stays: it is copied.
    place = home / PLACES["vim"]
    assert (place / "plugin/vim_mcp.vim").is_file()
    assert not (place / "plugin").is_symlink()
