"""What notebooks show of zwang's nouns: small pieces of HTML that need nothing from outside, in light and dark."""
