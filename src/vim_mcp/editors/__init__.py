"""Editors: one connected Vim or Neovim, all of them, and the choice among them."""
