"""vim://windows: tab pages, their layout trees, and what each window shows."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from harness import Assistant, Editor, Sandbox
from tests.e2e.support import UNTOUCHED, masked, show, write

WINDOWS = "vim://windows"


def shape(node: dict[str, Any]) -> Any:
    """Return a layout tree without its numbers: ("row", [...]), or "leaf"."""
    if node["layout"] == "leaf":
        return "leaf"
    return node["layout"], [shape(child) for child in node["children"]]


def leaves(node: dict[str, Any]) -> list[int]:
    """Return the windows of a layout tree in their order."""
    if node["layout"] == "leaf":
        return [node["winid"]]
    return [winid for child in node["children"] for winid in leaves(child)]


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([], "leaf"),
        (["split"], ("col", ["leaf", "leaf"])),
        (["vsplit", "split"], ("row", [("col", ["leaf", "leaf"]), "leaf"])),
        (
            ["split", "vsplit", "vsplit", "wincmd j"],
            ("col", [("row", ["leaf", "leaf", "leaf"]), "leaf"]),
        ),
    ],
    ids=["one", "split", "both ways", "three beside"],
)
def test_layout_is_a_tree(
    editor: Editor, assistant: Assistant, commands: list[str], expected: Any
) -> None:
    for command in commands:
        editor.command(command)
    told = assistant.read_json(WINDOWS)
    (page,) = told["tabpages"]
    assert shape(page["layout"]) == expected
    assert leaves(page["layout"]) == [window["winid"] for window in told["windows"]]
    assert page["current_winid"] == editor.eval("win_getid()")


def test_other_tab_pages_are_told_without_going_there(
    editor: Editor, assistant: Assistant, sandbox: Sandbox, snapshot: SnapshotAssertion
) -> None:
    show(editor, write(sandbox, "a.txt", *(f"{n} äö日本" for n in range(1, 101))))
    editor.type("60Gzt$")
    editor.command("vsplit")
    editor.command(f"tabedit {write(sandbox, 'b.txt', 'three')}")
    editor.command("copen")
    before = editor.eval(UNTOUCHED)
    told = assistant.read_json(WINDOWS)
    assert editor.eval(UNTOUCHED) == before
    assert [page["current"] for page in told["tabpages"]] == [False, True]
    for page in told["tabpages"]:
        page["layout"] = str(shape(page["layout"]))
        page.pop("current_winid")
    first = told["windows"][0]
    assert (first["topline"], first["cursor"], first["byte"]) == (60, [60, 7], 14 - 3)
    for window in told["windows"]:
        assert window["botline"] == editor.eval(f"getwininfo({window['winid']})[0].botline")
    assert masked(told, sandbox) == snapshot


def test_private_window_tells_its_place_alone(
    editor: Editor, assistant: Assistant, sandbox: Sandbox
) -> None:
    show(editor, write(sandbox, "id_canary", "hunter2"))
    editor.command("new")
    told = assistant.read_json(WINDOWS)
    (private,) = [window for window in told["windows"] if window.get("private")]
    assert {"name", "cursor", "topline"}.isdisjoint(private)
    assert private["winid"] in leaves(told["tabpages"][0]["layout"])
    assert "canary" not in str(told)


def test_floating_window_of_neovim_is_a_popup(nvim: Editor, assistant: Assistant) -> None:
    config = "{'relative': 'editor', 'width': 9, 'height': 3, 'row': 1, 'col': 1}"
    floating = nvim.eval(f"nvim_open_win(nvim_create_buf(v:false, v:true), v:false, {config})")
    told = assistant.read_json(WINDOWS)
    kinds = {window["winid"]: window["kind"] for window in told["windows"]}
    assert kinds[floating] == "popup"
    assert floating not in leaves(told["tabpages"][0]["layout"])
