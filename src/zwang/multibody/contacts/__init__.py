"""Contacts of bodies and stops of joints: one-sided constraints with impacts and friction."""
