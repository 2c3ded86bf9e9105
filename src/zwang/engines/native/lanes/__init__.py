"""Eight runs at once, one in each lane of the processor's vectors."""
