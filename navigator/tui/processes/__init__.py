"""Processes for slow work, so that keys never wait."""
