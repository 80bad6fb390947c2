"""The tools an assistant calls: one family a file, each a function on a `Call`."""
