"""Rootbound is one program; `python -m rootbound` starts it."""
