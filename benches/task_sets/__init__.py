"""The tasks of benches/task_sets.py: a folder and a list for each set."""
