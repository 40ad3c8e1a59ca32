"""Processes beside the screen, so that keys never wait."""
