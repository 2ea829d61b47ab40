"""Whole programs that ship with the kit: to be read, run and recorded like code of one's own."""
