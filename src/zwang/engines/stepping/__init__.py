"""Impulses that push and rub: many complementarity conditions at once, in machine code. No mechanics is known here."""
