"""What people run in a shell, on click and rich; never loaded on the forwarder's path."""
