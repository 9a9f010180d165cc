#!/usr/bin/env python3
"""Checks the SBOM and the notices of packages: bills.py DIST PROGRAM NAME, with the program of the archive NAME.

Each archive, wheel, npm package of a program and program of the bundle has both. Those of NAME name every crate that the
program itself lists, in the version that it lists.
"""
import json
import re
import runpy
import sys
import tarfile
import zipfile
from pathlib import Path

dist, program, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
BUILD = Path(__file__).resolve().parents[2] / ".ci/build"


def files(package):
    """The files of a package that are an SBOM or notices, by their paths."""
    if package.suffix in (".zip", ".whl", ".mcpb"):
        with zipfile.ZipFile(package) as opened:
            names = [entry for entry in opened.namelist() if entry.endswith((".cdx.json", "NOTICES"))]
            return {entry: opened.read(entry).decode() for entry in names}, [Path(entry) for entry in opened.namelist()]
    with tarfile.open(package) as opened:
        entries = opened.getmembers()
        names = [entry for entry in entries if entry.name.endswith((".cdx.json", "NOTICES"))]
        return {entry.name: opened.extractfile(entry).read().decode() for entry in names}, [Path(entry.name) for entry in entries]


def crates(text):
    """The crates of an SBOM, each with its version."""
    bill = json.loads(text)
    assert bill["bomFormat"] == "CycloneDX" and not re.search("file:///(?!rootbound)", text), "a path of the builder"
    return {(part["name"], part["version"]) for part in [bill["metadata"]["component"], *bill["components"]]}


listed = {(one["name"], one["version"]) for one in runpy.run_path(str(BUILD))["dependencies"](program.read_bytes())}
assert listed, f"{program} lists no dependencies"
own = None
packages = [path for pattern in ("release/*.tar.gz", "release/*.zip", "release/*.mcpb", "pypi/*.whl", "npm/rootbound-*-*-*.tgz")
            for path in sorted(dist.glob(pattern))]
for package in packages:
    found, entries = files(package)
    programs = sum(entry.name in ("rootbound", "rootbound.exe") and entry.parts[-2:-1] != ("server",) for entry in entries)
    bills = [text for entry, text in found.items() if entry.endswith(".cdx.json")]
    notices = [text for entry, text in found.items() if entry.endswith("NOTICES")]
    assert len(bills) == len(notices) >= 1, f"{package.name} has {len(bills)} SBOMs and {len(notices)} notices"
    for bill, text in zip(bills, notices):
        assert len(crates(bill)) > 100 and text.count("Permission is hereby granted") > 20, f"{package.name}: too little"
    print(f"{package.name}: {len(bills)}, {programs} names of programs")
    if package.name.startswith(name):
        own = crates(bills[0])
assert own, f"no package {name}"
assert listed <= own, f"in the program and not in its SBOM: {sorted(listed - own)[:5]}"
print(f"{len(listed)} crates in the program, {len(own)} in its SBOM")
