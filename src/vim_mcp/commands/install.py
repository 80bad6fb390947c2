"""`vim-mcp install`: the plugin where editors load it, and the registration with Claude Code."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator

import click

from vim_mcp import paths
from vim_mcp.commands import claude, files, hooks, package, places, show
from vim_mcp.errors import CommandFailed

_DID = {"make": "made", "replace": "replaced", "remove": "removed", "write": "wrote", "run": "ran"}


class Installer:
    """Does what was asked, or only says what it would do, and tells every file it touches."""

    def __init__(self, how: str | None, *, dry_run: bool, uninstall: bool) -> None:
        self.dry_run, self.uninstall = dry_run, uninstall
        self.source = paths.plugin_dir()
        self.passing = places.is_passing(self.source)
        self.copy = how == "copy" or (how is None and self.passing)
        self.program = places.program()
        self.failed = 0

    # --- what is said ---------------------------------------------------------------------------

    def head(self, text: str) -> None:
        """Say what comes now."""
        show.write(text)

    def note(self, word: str, what: str) -> None:
        """Say how something is."""
        show.write(f"  {word:<13} {places.short(what)}")

    def act(self, verb: str, what: str, do: Callable[[], object]) -> None:
        """Do it and say that it is done, or only say that it would be."""
        if self.dry_run:
            self.note(f"would {verb}", what)
        else:
            do()
            self.note(_DID[verb], what)

    @contextlib.contextmanager
    def part(self) -> Iterator[None]:
        """Go on with the next part when this one fails, and say why it did."""
        sys.stdout.flush()
        try:
            yield
        except CommandFailed as error:
            self._fail(str(error))
        except BrokenPipeError:
            raise
        except OSError as error:
            self._fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))

    def _fail(self, why: str) -> None:
        self.failed += 1
        sys.stdout.flush()
        sys.stderr.write(f"vim-mcp: {why}\n")

    # --- editors --------------------------------------------------------------------------------

    def plugin(self, kind: str, editor: places.Editor | None) -> None:
        """Put the plugin where an editor loads it, or take it away."""
        self.head(str(editor) if editor else f"{places.NAMES[kind]} (not found on PATH)")
        if editor and editor.problem and not self.uninstall:
            self.note("warning", f"the plugin does nothing in this one: {editor.problem}")
        path = places.package(kind, bool(editor and editor.has_xdg))
        there = package.kind(path)
        if there == "foreign":
            raise CommandFailed(
                f"{path} was not put there by vim-mcp install and is left as it is; "
                "move it away and try again"
            )
        if self.uninstall:
            self._remove(path, there)
            return
        tree = package.wanted(self.source, copy=self.copy)
        if there == "ours" and package.present(path) == tree:
            self.note("already", path)
            return
        before = _what_is_there(path, there)
        self.act("replace" if there else "make", path, lambda: package.put(path, tree))
        self.note("a copy of" if self.copy else "links to", self.source)
        if before:
            self.note("instead of", before)

    def _remove(self, path: str, there: str) -> None:
        if not there:
            self.note("not there", path)
        else:
            self.act("remove", path, lambda: package.remove(path))

    def command(self, kinds: list[str]) -> None:
        """Record where the program is, for editors that are started with a poor PATH."""
        path = places.command_file()
        if self.uninstall:
            others = [kind for kind in places.NAMES if kind not in kinds]
            if os.path.exists(path) and not any(map(_is_installed, others)):
                self.head("The program, for editors with a poor PATH")
                self.act("remove", path, lambda: package.remove(path))
            return
        self.head("The program, for editors with a poor PATH")
        if self.program is None:
            raise CommandFailed(
                "this vim-mcp runs from a cache that will be emptied: install it for good "
                "(pipx install vim-mcp, uv tool install vim-mcp) and run this again"
            )
        if places.recorded_command() == self.program:
            self.note("already", path)
        else:
            self.act("write", path, lambda: _record(path, f"{self.program}\n"))

    # --- Claude Code ----------------------------------------------------------------------------

    def claude(self) -> None:
        """Register with Claude Code for all projects of the user, or take that back."""
        self.head("Claude Code")
        known = claude.servers(claude.user_file()).get(claude.NAME)
        if known is not None and not claude.is_ours(known):
            raise CommandFailed(
                f"Claude Code has another server named {claude.NAME}; "
                f"see `claude mcp get {claude.NAME}`"
            )
        if self.uninstall:
            if known is None:
                self.note(
                    "not there", f"the server {claude.NAME} in {places.short(claude.user_file())}"
                )
            else:
                self._run(claude.remove_command())
            return
        if self.program is None:
            raise CommandFailed("not registered with Claude Code: install vim-mcp for good first")
        if known is not None and known.get("command") == self.program and not known.get("args"):
            self.note("already", f"the server {claude.NAME} in {places.short(claude.user_file())}")
            return
        if known is not None:
            self._run(claude.remove_command())
        self._run(claude.add_command(self.program))

    def hooks(self) -> None:
        """Let Claude Code tell of its own edits, before and after, or take that back."""
        self.head("Claude Code's hooks")
        path = hooks.settings_file()
        if self.program is None and not self.uninstall:
            raise CommandFailed("no hooks for Claude Code: install vim-mcp for good first")
        text = hooks.with_hooks(path, None if self.uninstall else self.program)
        self._whole(path, text)
        if text == "" and not self.dry_run:
            # The directory, too, when it was made for this file.
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(path))

    def _run(self, argv: list[str]) -> None:
        if shutil.which("claude"):
            self.act("run", shlex.join(argv), lambda: claude.run(argv))
            return
        self.note("not found", "the program claude; where it is, run")
        self.note("", shlex.join(argv))
        if not self.uninstall and self.program:
            self.note("", "or give your MCP client")
            self.note("", json.dumps({"mcpServers": {claude.NAME: claude.entry(self.program)}}))

    def project(self) -> None:
        """Name vim-mcp in the project's .mcp.json, which is shared with others, or take it out."""
        self.head("This project")
        path = os.path.abspath(claude.PROJECT_FILE)
        # The file is for everybody who works on the project: no path of this machine.
        server = None if self.uninstall else claude.entry("vim-mcp")
        text = claude.with_server(path, server)
        self._whole(path, text)
        if not self.uninstall and not shutil.which("vim-mcp"):
            self.note("warning", "vim-mcp is not on PATH here: Claude Code will not find it")

    def _whole(self, path: str, text: str | None) -> None:
        if text is None:
            self.note("not there" if self.uninstall else "already", path)
        else:
            self.act("write" if text else "remove", path, lambda: files.write(path, text))


def _record(path: str, line: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    paths.write_whole(path, line)


def _is_installed(kind: str) -> bool:
    found = {package.kind(places.package(kind, has_xdg)) for has_xdg in (False, True)}
    return not found.isdisjoint({"ours", "link"})


def _what_is_there(path: str, kind: str) -> str:
    """Return what people want to know of a package that is replaced."""
    if kind in ("link", "broken"):
        return f"a link to {os.readlink(path)}" + (", which is gone" if kind == "broken" else "")
    return f"version {package.plugin_version(path)}" if kind == "ours" else ""


@click.command()
@click.option("--vim", is_flag=True, help="Install the plugin for Vim.")
@click.option("--neovim", is_flag=True, help="Install the plugin for Neovim.")
@click.option("--claude", "with_claude", is_flag=True, help="Register with Claude Code.")
@click.option(
    "--hooks", "with_hooks", is_flag=True, help="Let Claude Code tell Vim of its own edits."
)
@click.option("--project", is_flag=True, help="Write .mcp.json here, to be shared with others.")
@click.option("--copy", "how", flag_value="copy", help="Copy the plugin.")
@click.option("--symlink", "how", flag_value="link", help="Link to the plugin (the default).")
@click.option("--dry-run", is_flag=True, help="Change nothing, say what would be done.")
@click.option("--uninstall", is_flag=True, help="Take back what install did.")
def install(
    vim: bool,
    neovim: bool,
    with_claude: bool,
    with_hooks: bool,
    project: bool,
    how: str | None,
    dry_run: bool,
    uninstall: bool,
) -> int:
    """Let the editors and Claude Code found here use vim-mcp.

    Without --vim, --neovim, --claude, --hooks or --project: for every editor on PATH, and Claude Code if it
    is there. The plugin becomes a package of the editor: links into this installation, so that it
    is always as old as the program, or a copy. No vimrc or init file is touched. What was not put
    there by this command is never changed or removed. It may be run again at any time.

    --hooks adds two hooks to Claude Code's settings: before it edits a file on disk it is told when
    a Vim has unsaved text of it, and afterwards buffers show the new text at once.

    \b
    Examples:
      vim-mcp install --dry-run
      vim-mcp install
      vim-mcp install --claude --hooks
      vim-mcp install --uninstall
    """
    kinds = [kind for kind, chosen in (("vim", vim), ("nvim", neovim)) if chosen]
    found = {kind: places.find(kind) for kind in places.NAMES}
    if not (kinds or with_claude or with_hooks or project):
        # Nothing of ours stays behind; putting hooks there is a choice of its own.
        with_hooks = uninstall
        with_claude = uninstall or bool(shutil.which("claude"))
        kinds = list(found) if uninstall else _usable(found.values())
        if not kinds:
            sys.stderr.write("vim-mcp: no Vim from 8.2.4684 and no Neovim from 0.5 is on PATH\n")
            if not with_claude:
                return 1
    installer = Installer(how, dry_run=dry_run, uninstall=uninstall)
    for kind in kinds:
        with installer.part():
            installer.plugin(kind, found[kind])
    if kinds:
        with installer.part():
            installer.command(kinds)
    if with_claude:
        with installer.part():
            installer.claude()
    if with_hooks:
        with installer.part():
            installer.hooks()
    elif with_claude and not uninstall:
        installer.note(
            "offered", "vim-mcp install --hooks: Vim follows what Claude Code edits on disk"
        )
    if project:
        with installer.part():
            installer.project()
    _close(installer, kinds)
    return 1 if installer.failed else 0


def _usable(editors: Iterable[places.Editor | None]) -> list[str]:
    """Return the kinds of the editors that the plugin works in, and tell of the others."""
    kinds = []
    for editor in editors:
        if editor and editor.problem:
            show.write(f"{editor}\n  not for this  {editor.problem}")
        elif editor:
            kinds.append(editor.kind)
    return kinds


def _close(installer: Installer, kinds: list[str]) -> None:
    show.write("Not touched: vimrc and init files, and whatever is not named above.")
    if kinds and not installer.dry_run and not installer.failed:
        when = "keep it until they end" if installer.uninstall else "use it at their next start"
        show.write(f"Editors that run now {when}. `vim-mcp doctor` tells how things stand.")
