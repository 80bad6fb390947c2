"""The forwarder's side: find or start the hub, pump bytes. Standard library only."""
