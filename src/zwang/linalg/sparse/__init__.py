"""The same linear algebra for large systems: what is zero by structure takes neither time nor memory."""
