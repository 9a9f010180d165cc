"""The tasks of benches/tokens.py."""
