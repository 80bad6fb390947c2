"""Vim's key notation ("ihello<Esc>") as the bytes an xterm sends."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What follows "<" looks like the name of a key; anything else is a literal "<".
_KEY = re.compile(r"<((?:[CSMAD]-)*)([A-Za-z][A-Za-z0-9]*|[^\s>A-Za-z]|[A-Za-z])>", re.IGNORECASE)

_PLAIN = {
    "esc": "\x1b",
    "cr": "\r",
    "enter": "\r",
    "return": "\r",
    "nl": "\n",
    "tab": "\t",
    "space": " ",
    "bs": "\x7f",
    "lt": "<",
    "bar": "|",
    "bslash": "\\",
    "nul": "\x00",
}

# The letter that ends "CSI 1;{modifiers}" with a modifier, and "SS3" without one: an editor
# switches the terminal to application mode at its start.
_LETTER = {
    "up": "A",
    "down": "B",
    "right": "C",
    "left": "D",
    "end": "F",
    "home": "H",
    "f1": "P",
    "f2": "Q",
    "f3": "R",
    "f4": "S",
}

# The number in "CSI {number} ~".
_NUMBER = {
    "insert": 2,
    "del": 3,
    "delete": 3,
    "pageup": 5,
    "pagedown": 6,
    "f5": 15,
    "f6": 17,
    "f7": 18,
    "f8": 19,
    "f9": 20,
    "f10": 21,
    "f11": 23,
    "f12": 24,
}

ESC = b"\x1b"


class UnknownKey(ValueError):
    """A name in angle brackets that is no key."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"{self.name} is not a key; for the characters themselves write <lt>{self.name[1:]}"


def encode(keys: str) -> list[bytes]:
    """Return the bytes of each key of `keys`, one item a key, a lone Escape as `ESC`.

    `<Esc>`, `<CR>`, `<C-w>`, `<M-x>`, `<S-Tab>`, `<Up>`, `<F5>`, `<C-Right>`, `<lt>` … as in Vim; a
    "<" that does not start something like a key's name stands for itself.

    Raises:
        UnknownKey: a name in angle brackets that is no key.
    """
    return list(_encode(keys))


def _encode(keys: str) -> Iterator[bytes]:
    at = 0
    while at < len(keys):
        match = _KEY.match(keys, at)
        if match:
            yield _key(match[0], match[1], match[2])
            at = match.end()
        else:
            yield keys[at].encode()
            at += 1


def _key(name: str, modifiers: str, base: str) -> bytes:
    held = {letter.upper() for letter in modifiers if letter != "-"}
    alt = bool(held & {"M", "A"})
    lower = base.lower()
    if "D" in held:  # no terminal sends the command key
        raise UnknownKey(name)
    if lower in _LETTER or lower in _NUMBER:
        return _special(lower, shift="S" in held, alt=alt, ctrl="C" in held)
    if lower == "tab" and held == {"S"}:
        return b"\x1b[Z"
    if not modifiers and len(base) == 1:
        # "<a>" and "<5>" are no keys in Vim either: the three characters.
        return name.encode()
    text = _PLAIN.get(lower, base if len(base) == 1 else None)
    if text is None:
        raise UnknownKey(name)
    if "S" in held:
        if len(text) != 1 or not text.isalpha():
            raise UnknownKey(name)
        text = text.upper()
    if "C" in held:
        text = _control(name, text)
    return (ESC if alt else b"") + text.encode()


def _control(name: str, text: str) -> str:
    if text in (" ", "@"):
        return "\x00"
    if text == "?":
        return "\x7f"
    if text.isascii() and "@" <= text.upper() <= "_":
        return chr(ord(text.upper()) & 0x1F)
    raise UnknownKey(name)


def _special(base: str, *, shift: bool, alt: bool, ctrl: bool) -> bytes:
    # xterm counts modifiers from 1: shift 1, alt 2, control 4.
    modifier = 1 + shift + 2 * alt + 4 * ctrl
    if base in _LETTER:
        letter = _LETTER[base]
        text = f"\x1bO{letter}" if modifier == 1 else f"\x1b[1;{modifier}{letter}"
    else:
        number = _NUMBER[base]
        text = f"\x1b[{number}~" if modifier == 1 else f"\x1b[{number};{modifier}~"
    return text.encode()
