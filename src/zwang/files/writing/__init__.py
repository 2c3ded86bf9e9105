"""Models as text: values and sections of TOML, and the parts of mechanisms."""
