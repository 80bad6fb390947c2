from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import process
from harness.editor import Editor
from harness.editors import make_editor
from harness.errors import EditorBlocked, EditorDied, EditorError, EditorNotFound, ResetFailed
from harness.sandbox import Sandbox
from harness.screen import Screen
from harness.vim import Vim
from harness.wait import WaitTimeout, wait_until

# The harness itself, without the product: editors with no plugin and no hub.


@pytest.fixture(scope="session")
def plugin_under_test() -> bool:
    return False


def test_typing_is_done_when_it_returns(editor: Editor) -> None:
    for number in range(20):
        editor.type(f"oline {number}<Esc>")
    assert editor.lines() == ["", *(f"line {number}" for number in range(20))]
    assert editor.mode() == "n"


def test_escape_before_a_letter_is_no_special_key(editor: Editor) -> None:
    # "\x1bOA" is the Up key.
    editor.type("ione<Esc>OABOVE<Esc>obelow<Esc>")
    assert editor.lines() == ["ABOVE", "below", "one"]


def test_special_keys_arrive(editor: Editor) -> None:
    editor.type("ione<CR>two<Up><Home>x<Esc>:put ='<lt>b>'<CR>")
    assert editor.lines() == ["xone", "<b>", "two"]


def test_long_input_arrives_whole(editor: Editor) -> None:
    text = "0123456789" * 3000
    editor.type(f"i{text}<Esc>")
    assert editor.lines() == [text]


def test_the_screen_is_that_of_the_moment(editor: Editor, screen: Callable[[], Screen]) -> None:
    editor.type("ihello<Esc>")
    assert screen().lines[0] == "hello"
    assert screen().cursor == (1, 5)
    editor.command("call setline(1, 'other')")
    assert editor.wait_screen("other").lines[0] == "other"


def test_eval_gives_values_and_errors(editor: Editor) -> None:
    assert editor.eval("[1, 'a', {'b': 2.5}, v:true]") == [1, "a", {"b": 2.5}, True]
    with pytest.raises(EditorError, match="E121"):
        editor.eval("nosuchthing")
    with pytest.raises(EditorError, match="E492"):
        editor.command("Nosuchthing")
    assert editor.messages() == ""


def test_ten_megabytes_come_through_the_line(editor: Editor) -> None:
    assert len(editor.eval("repeat('x', 10000000)")) == 10_000_000


@pytest.mark.parametrize(
    ("keys", "mode", "answer"),
    [
        ("d", "no", "<Esc>"),
        ('"', "n", "<Esc>"),
        ("f", "n", "<Esc>"),
        ("3", "n", "<Esc>"),
        ("i<C-r>", "i", "<Esc><Esc>"),
        (':echo "a\\nb"<CR>', "r", "<CR>"),
        (":call confirm('sure?')<CR>", "r?", "<CR>"),
    ],
)
def test_an_unfinished_command_raises_at_once(
    editor: Editor, keys: str, mode: str, answer: str
) -> None:
    with pytest.raises(EditorBlocked) as caught:
        editor.type(keys)
    assert caught.value.mode == mode
    assert "|~" in str(caught.value), "the screen is in the message"
    assert editor.waiting
    # The prompt is still there: nothing the harness did answered it.
    assert editor.mode() == mode
    with pytest.raises(EditorBlocked):
        editor.type("")
    editor.type(answer)
    assert not editor.waiting


def test_a_prompt_can_be_waited_for(editor: Editor) -> None:
    editor.type(':echo "a\\nb"<CR>', sync=False)
    editor.wait_mode("r")
    assert "Press ENTER" in editor.screen()
    editor.type("<CR>")
    assert editor.mode() == "n"


@pytest.mark.parametrize("keys", ["i", "R", "v", "V", "<C-v>", ":ec", "/x", ":call input('?')<CR>"])
def test_a_mode_that_takes_any_key_is_no_block(editor: Editor, keys: str) -> None:
    editor.type(keys)
    assert not editor.waiting
    assert editor.eval("1 + 1") == 2
    editor.type("<Esc>")
    assert editor.mode() == "n"


def test_eval_at_a_prompt_answers_or_raises_and_leaves_the_prompt(editor: Editor) -> None:
    editor.type(':echo "a\\nb"<CR>', sync=False)
    editor.wait_mode("r")
    if editor.kind == "vim":
        assert editor.eval("1") == 1
    else:
        with pytest.raises(EditorBlocked, match="eval 1"):
            editor.eval("1")
    assert editor.mode() == "r"


def test_what_neovim_refused_at_a_prompt_is_not_done_later(nvim: Editor) -> None:
    nvim.type(':echo "a\\nb"<CR>', sync=False)
    nvim.wait_mode("r")
    with pytest.raises(EditorBlocked):
        nvim.command("let g:done = 1")
    nvim.type("<CR>")
    assert nvim.eval("exists('g:done')") == 0


def test_a_frozen_editor_raises_at_once_and_goes_on_when_thawed(editor: Editor) -> None:
    editor.freeze()
    for ask in (lambda: editor.eval("1"), lambda: editor.type("x"), editor.mode):
        with pytest.raises(EditorBlocked, match="it is stopped"):
            ask()
    assert editor.alive
    editor.screen()
    editor.thaw()
    wait_until(lambda: not process.stopped(editor.pid), what="it to run on")
    assert editor.eval("1") == 1


def test_a_busy_editor_times_out(editor: Editor) -> None:
    busy = "let t = reltime() | while reltimefloat(reltime(t)) < 1 | endwhile"
    editor.seconds = 0.3
    try:
        with pytest.raises(WaitTimeout, match="to finish"):
            editor.type(f":{busy} | call setline(1, 'done')<CR>")
    finally:
        editor.seconds = 10
    editor.wait_screen("done")


def test_a_shell_command_is_waited_for(editor: Editor) -> None:
    editor.type(":silent call setline(1, systemlist('sleep 0.3; echo done'))<CR>")
    assert editor.lines() == ["done"]


class TestLife:
    @pytest.fixture
    def own(self, editor_kind: str) -> Iterator[Editor]:
        with Sandbox() as sandbox:
            editor = make_editor(editor_kind, sandbox)
            yield editor
            editor.stop()

    def test_a_killed_editor_is_told_from_a_blocked_one(self, own: Editor) -> None:
        own.start(plugin=False)
        own.kill()
        assert not own.alive
        with pytest.raises(EditorDied, match="SIGKILL"):
            own.eval("1")
        with pytest.raises(EditorDied):
            own.type("x")
        with pytest.raises(EditorDied):
            own.wait_screen("never shown")

    def test_a_quitting_editor_is_told(self, own: Editor) -> None:
        own.start(plugin=False)
        with pytest.raises(EditorDied, match="exit status 0"):
            own.type(":qall!<CR>")

    def test_restart_starts_it_the_same_way(self, own: Editor) -> None:
        file = own.sandbox.project() / "a.txt"
        file.write_text("text\n")
        own.start([file], ["-c", "let g:c = 1"], rc_extra="let g:rc = 1", plugin=False)
        pid = own.pid
        own.kill()
        own.restart()
        assert own.pid != pid
        assert own.eval("[g:c, g:rc, getline(1), getcwd()]") == [1, 1, "text", str(file.parent)]

    def test_the_end_leaves_no_process(self, own: Editor) -> None:
        own.start(plugin=False)
        own.type(":call jobstart(['sleep', '60'])<CR>" if own.kind == "nvim" else ":<CR>")
        own.stop()
        assert not own.alive
        own.sandbox.end_processes()
        assert own.sandbox.processes() == []

    def test_a_prompt_at_the_start_raises(self, own: Editor) -> None:
        with pytest.raises(EditorBlocked, match="start up"):
            own.start(plugin=False, args=["-c", 'echo "a\\nb\\nc"'], rc_extra="set cmdheight=1")

    def test_a_start_may_end_at_a_prompt_if_that_is_wanted(self, own: Editor) -> None:
        file = own.sandbox.project() / "a.txt"
        file.write_text("text\n")
        swap = file.with_name(".a.txt.swp")
        own.start([file], plugin=False, swap=True, rc_extra="set directory=.")
        own.type("itext<Esc>:preserve<CR>")
        assert swap.exists()
        second = make_editor(own.kind, own.sandbox)
        second.start(
            [file], plugin=False, swap=True, rc_extra="set directory=. shortmess-=A", wait="opened"
        )
        try:
            screen = second.wait_screen("ATTENTION", seconds=5)
            assert "a.txt" in screen
        finally:
            second.stop()

    def test_its_home_and_files_are_the_sandboxs(self, own: Editor) -> None:
        own.start(plugin=False)
        root = str(own.sandbox.root)
        assert own.eval("expand('~')") == str(own.sandbox.home)
        assert str(own.eval("tempname()")).startswith(root)

    def test_a_failing_start_says_what_is_on_the_screen(self, own: Editor) -> None:
        own.seconds = 1
        with pytest.raises(EditorDied, match="exit status"):
            own.start(plugin=False, args=["--no-such-flag"])

    def test_the_version_is_a_version(self, own: Editor) -> None:
        own.start(plugin=False)
        numbers = [int(part) for part in own.version.split(".")]
        assert len(numbers) == 3
        assert numbers > [0, 4, 0]


class TestReset:
    @pytest.mark.parametrize(
        "keys",
        [
            "ihello<Esc>:edit a.txt<CR>i",
            ":vsplit<CR>:tabnew<CR>:lcd /<CR>:set number<CR>:setlocal list<CR>",
            "qaix<Esc>",
            "q:ix",
            ":call confirm('?')<CR>",
            ':echo "a\\nb"<CR>',
            "yyp:let g:x = 1<CR>/foo<CR>",
            "d",
            "<C-v>j",
            "i<C-r>",
            "i<C-x>",
            ":call input('?')<CR>",
            ":terminal<CR>",
            "gQ",
            "ihello<Esc>:s/h/x/c<CR>",
            ":help<CR>",
            ":argadd a b<CR>:next<CR>",
            ":new<CR>:setlocal nomodifiable<CR>",
            ":set paste hlsearch tabstop=3 noautoindent<CR>",
            ":copen<CR>:cexpr ['a:1:b']<CR>",
            "mAihello<Esc>5Ifoo <Esc>",
        ],
    )
    def test_anything_typed_is_forgotten(self, editor: Editor, keys: str) -> None:
        pid = editor.pid
        editor.type(keys, sync=False)
        editor.screen()
        editor.reset()
        assert editor.pid == pid
        assert editor.eval("HarnessLeft()") == []
        assert editor.lines() == [""]
        editor.type("iafter<Esc>")
        assert editor.lines() == ["after"]

    @pytest.mark.parametrize(
        ("command", "left"),
        [
            ("nnoremap zz x", "mappings"),
            ("command Foo echo 1", "commands"),
            ("autocmd BufEnter * let g:y = 1", "autocommands"),
            ("iabbrev foo bar", "abbreviations"),
        ],
    )
    def test_what_cannot_be_taken_back_is_told(
        self, editor: Editor, command: str, left: str
    ) -> None:
        editor.command(command)
        with pytest.raises(ResetFailed, match=left):
            editor.reset()

    def test_variables_are_as_at_the_start(self, editor: Editor) -> None:
        editor.command("let g:new = 1 | let g:loaded_x = 1 | let w:new = 1 | let t:new = 1")
        editor.reset()
        assert editor.eval("[exists('g:new'), exists('w:new'), exists('t:new')]") == [0, 0, 0]
        assert editor.eval("g:loaded_x") == 1
        editor.command("unlet g:loaded_x")


class TestFinding:
    def test_a_missing_editor_names_its_package(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("HARNESS_VIM", raising=False)
        with pytest.raises(EditorNotFound, match=r"vim-nox.*HARNESS_VIM"):
            Vim.find()

    def test_a_vim_without_channels_is_passed_over(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for name, features in (("vim.nox", "-channel"), ("vim", "+channel")):
            (tmp_path / name).write_text(f"#!/bin/sh\necho {features}\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("HARNESS_VIM", raising=False)
        assert Vim.find() == str(tmp_path / "vim")

    def test_the_override_is_taken(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("HARNESS_VIM", str(tmp_path / "nowhere"))
        with pytest.raises(EditorNotFound, match="nowhere"):
            Vim.find()

    def test_an_unknown_kind_is_refused(self) -> None:
        with Sandbox() as sandbox, pytest.raises(EditorNotFound, match="vim, nvim"):
            make_editor("emacs", sandbox)
