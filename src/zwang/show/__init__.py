"""Pictures of a motion: plots, animations and the report."""
