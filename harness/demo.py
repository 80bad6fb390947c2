"""`make demo`: the main job, with a real Vim and a real MCP client over stdio, and the screens."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from .assistant import Answer, Assistant
from .editors import KINDS, make_editor
from .hub import Hub
from .picture import Panel, plain, shortened, svg
from .sandbox import Sandbox
from .screen import Screen
from .wait import wait_until

_FILE = """\
def greet(name):
    print("Hello " + name)


greet("world")
"""

_WIDTH = 76


def main(argv: list[str] | None = None) -> int:
    """Show one assistant's session; returns the exit status, 1 when something was not as it says."""
    parser = argparse.ArgumentParser(prog="harness.demo", description=__doc__)
    parser.add_argument("--editor", choices=list(KINDS), default="vim")
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw a picture of the session, too"
    )
    arguments = parser.parse_args(argv)
    with Sandbox() as sandbox, Hub(sandbox).start():
        return _demo(sandbox, arguments.editor, arguments.svg)


def _demo(sandbox: Sandbox, kind: str, picture: Path | None) -> int:
    file = sandbox.project("demo") / "greet.py"
    file.write_text(_FILE)
    editor = make_editor(kind, sandbox)
    looks = "syntax on | set background=dark number laststatus=2 ruler"
    with (
        editor.start([file], cwd=file.parent, rc_extra=looks),
        Assistant(sandbox, cwd=file.parent) as assistant,
    ):
        _title(f"The user has {kind} {editor.version} open, and types a line without saving it")
        editor.type("Go# unsaved: ask the assistant about this<Esc>")
        _show(editor.screen())
        before = editor.panel(f"{kind} {editor.version}: what the user has typed is not saved")

        _title("The assistant asks which editors there are")
        listed = _call(assistant, "list_vim_instances")
        for row in listed.data["instances"]:
            _say(f"{row['instance_id']}: {row['editor']} {row['version']} in {row['cwd']}")

        _title("It reads what the user sees: the unsaved line is not in the file")
        read = _call(assistant, "vim_read")
        _say(read.text)
        unsaved = "# unsaved" in read.text and "# unsaved" not in file.read_text()

        _title("It edits the live buffer: one undo step, only the lines that differ")
        edit = _call(
            assistant,
            "vim_edit",
            file=str(file),
            old_text='print("Hello " + name)',
            content='print(f"Hello, {name}!")',
        )
        _say(edit.data["context"])
        edited = _await(editor.screen, 'f"Hello, {name}!"')

        _title("The user sees it at once")
        _show(editor.screen())
        after = editor.panel(f"{kind} {editor.version}: the edit is there at once, one undo step")

        _title("It undoes its edit again")
        _say(f"undone: {_call(assistant, 'vim_undo').data['undone']}")
        undone = _await(editor.screen, '"Hello " + name')
        _show(editor.screen())

        _title("Ex commands run from a short list; everything else is refused")
        counted = _call(assistant, "vim_execute", command="echo line('$')")
        _say(counted.text)
        refused = _call(assistant, "vim_execute", command="!touch /tmp/x")
        _say(refused.error["message"])

    if picture is not None:
        # Its directory has another name each time.
        text = read.text.replace(f"{file.parent}/", "")
        picture.write_text(_picture(before, text, edit.data["context"], after), "utf-8")
    good = unsaved and edited and undone and counted.text.strip() == "6" and refused.is_error
    _title("Done: all of it was seen" if good else "NOT as it should be, see above")
    return 0 if good else 1


def _picture(before: Panel, read: str, edited: str, after: Panel) -> str:
    """Draw the user's screen, what the assistant did, and the user's screen again."""
    said = [
        ("> vim_read", "#6cb6ff"),
        *((f"  {line}".expandtabs(4), None) for line in read.splitlines()),
        ("> vim_edit greet.py, old_text → content", "#6cb6ff"),
        *((f"  {line}".expandtabs(4), None) for line in edited.splitlines()),
    ]
    return svg(
        [
            Panel(before.title, shortened(before.rows)),
            Panel("the assistant, over MCP", plain(said)),
            Panel(after.title, shortened(after.rows)),
        ]
    )


def _call(assistant: Assistant, tool: str, **arguments: object) -> Answer:
    sys.stdout.write(f"  > {tool} {json.dumps(arguments, ensure_ascii=False)}\n")
    return assistant.call(tool, **arguments)


def _await(screen: Callable[[], Screen], text: str) -> bool:
    return bool(wait_until(lambda: text in str(screen()), seconds=5, what=f"{text} on the screen"))


def _title(text: str) -> None:
    sys.stdout.write(f"\n== {text}\n\n")


def _say(text: str) -> None:
    sys.stdout.write("".join(f"    {line}\n" for line in text.splitlines()))


def _show(screen: Screen) -> None:
    lines = str(screen).splitlines()
    # The empty middle of a short file says nothing.
    shown = [line for line in lines if line.strip() not in ("", "~")]
    bar = "-" * _WIDTH
    body = "".join(f"  | {line[:_WIDTH].ljust(_WIDTH)} |\n" for line in shown)
    sys.stdout.write(f"  +-{bar}-+\n{body}  +-{bar}-+\n")


if __name__ == "__main__":
    sys.exit(main())
