"""The language of expressions in model files: text to SymPy and back."""
