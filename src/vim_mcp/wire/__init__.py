"""The wire: lines, JSON-RPC heads and the editor's messages. No I/O."""
