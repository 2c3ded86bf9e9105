"""The native engine: DOP853 in machine code, one run at a time or eight in the lanes of the processor."""
