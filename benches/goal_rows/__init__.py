"""The rows of benches/goals.py."""
