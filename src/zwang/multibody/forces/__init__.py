"""The force elements, one a file."""
