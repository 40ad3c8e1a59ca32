"""From timed events to rows: nesting, forward links, where each row ran."""
