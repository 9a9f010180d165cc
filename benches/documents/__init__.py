"""The documents of benches/documents.py: a corpus out of packages, and hostile ones that are generated."""
