"""Large systems lowered by families: what is the same expression in other symbols is derived and compiled once."""
