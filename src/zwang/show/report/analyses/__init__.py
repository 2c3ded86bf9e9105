"""The report's parts on what a model asks: one file each."""
