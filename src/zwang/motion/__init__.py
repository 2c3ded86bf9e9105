"""Motion: consistent starts, engines, events, singular positions, many starts, sensitivities."""
