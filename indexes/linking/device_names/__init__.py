"""From the name of a device kernel in a profile to its source."""
