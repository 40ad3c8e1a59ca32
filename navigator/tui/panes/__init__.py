"""The parts of a screen: each owns its keys and its workers."""
