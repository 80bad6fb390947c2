from __future__ import annotations

import pytest

from harness.keys import UnknownKey, encode


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ("ihello<Esc>", b"ihello\x1b"),
        ("<esc><CR><Tab><Space><BS>", b"\x1b\r\t \x7f"),
        ("<C-w>v<C-\\><C-N><C-]><C-Space>", b"\x17v\x1c\x0e\x1d\x00"),
        ("<M-x><M-S-x>", b"\x1bx\x1bX"),
        ("<S-Tab><S-a>", b"\x1b[ZA"),
        ("<Up><C-Right><S-Home>", b"\x1bOA\x1b[1;5C\x1b[1;2H"),
        ("<F1><F5><S-F5><Del><PageDown>", b"\x1bOP\x1b[15~\x1b[15;2~\x1b[3~\x1b[6~"),
        ("a <lt>b> <Bar> <Bslash>", b"a <b> | \\"),
        ("if a < b && c > d", b"if a < b && c > d"),
        ("x << 2, y <- z, <>, <5>, <a>", b"x << 2, y <- z, <>, <5>, <a>"),
        ("ä→", "ä→".encode()),
        ("", b""),
    ],
)
def test_keys_become_the_bytes_of_a_terminal(keys: str, sent: bytes) -> None:
    assert b"".join(encode(keys)) == sent


def test_each_key_is_an_item_of_its_own() -> None:
    assert encode("a<Esc>ä<Up>") == [b"a", b"\x1b", "ä".encode(), b"\x1bOA"]


@pytest.mark.parametrize("keys", ["<Ecs>", "i<div>", "<D-x>", "<C-CR>", "<S-Esc>"])
def test_a_name_that_is_no_key_is_refused(keys: str) -> None:
    with pytest.raises(UnknownKey, match="is not a key"):
        encode(keys)


def test_the_refusal_says_how_to_type_it_literally() -> None:
    with pytest.raises(UnknownKey, match="<lt>div>"):
        encode("i<div>")
