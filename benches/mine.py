#!/usr/bin/env python3
"""Real changes for `cargo bench --bench replay -- --hunks DIR`: benches/mine.py [--large] [--git CLONE]… DIR

Fills DIR with pairs of files: DIR/old/NAME/PATH before a change and DIR/new/NAME/PATH after it, for every
source file that differs between two releases of a package. Packages come from the registries through their
ordinary clients (cargo, pip, npm), without running their code; --large uses more packages. Each CLONE is a
local git repository whose latest commits are used one by one, without network. Existing pairs are not fetched
again; exits with 1 if something could not be fetched.
"""
import argparse
import atexit
import functools
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

# Client, package and the two releases. Together they have Rust, Python, JavaScript, TypeScript, C, C++, Java,
# CSS, HTML, Markdown and YAML.
SMALL = (
    ("cargo", "clap_builder", "4.4.0", "4.5.20"),  # Rust
    ("cargo", "lz4-sys", "1.9.4", "1.11.1+lz4-1.10.0"),  # C, Makefiles, YAML
    ("pip", "flask", "2.3.0", "3.0.3"),  # Python
    ("pip", "rich", "12.0.0", "13.7.0"),  # Python
    ("npm", "rxjs", "7.5.0", "7.8.1"),  # TypeScript, JavaScript
    ("npm", "node-addon-api", "5.0.0", "8.0.0"),  # C++, Markdown
    ("npm", "cordova-android", "11.0.0", "12.0.1"),  # Java, JavaScript
    ("npm", "normalize.css", "7.0.0", "8.0.1"),  # CSS, Markdown
    ("npm", "purecss", "1.0.0", "3.0.0"),  # CSS
    ("npm", "express", "4.18.0", "5.0.0"),  # JavaScript, Markdown
)
LARGE = (
    ("cargo", "syn", "1.0.100", "2.0.50"),  # Rust
    ("cargo", "regex-automata", "0.3.0", "0.4.7"),  # Rust
    ("cargo", "tokio", "1.20.0", "1.38.0"),  # Rust
    ("cargo", "libz-sys", "1.1.8", "1.1.18"),  # C
    ("cargo", "zstd-sys", "2.0.1+zstd.1.5.2", "2.0.13+zstd.1.5.6"),  # C
    ("pip", "django", "4.1", "5.0"),  # Python, HTML, JavaScript, CSS
    ("pip", "ansible-core", "2.14.0", "2.16.0"),  # Python, YAML
    ("pip", "checkov", "3.1.0", "3.2.100"),  # Python, YAML
    ("npm", "react-native", "0.72.0", "0.74.0"),  # Java, Kotlin, C++, JavaScript, TypeScript, Ruby
    ("npm", "bootstrap", "5.1.0", "5.3.3"),  # SCSS, CSS, JavaScript
    ("npm", "vue", "2.7.0", "2.7.16"),  # TypeScript, JavaScript
)
EXTENSIONS = set(
    "rs py pyi js mjs cjs ts tsx jsx c h cc cpp hpp hh go java kt rb css scss less html htm md yml yaml toml sh "
    "mk cmake sql swift m mm php vue".split()
)
NAMES = {"Makefile", "makefile", "GNUmakefile", "Dockerfile", "CMakeLists.txt"}
LARGEST = 300_000
COMMITS = 400
FILES_PER_COMMIT = 12


def is_source(path):
    path = pathlib.PurePosixPath(path)
    named = path.name in NAMES or path.suffix.lstrip(".") in EXTENSIONS
    return named and ".min." not in path.name and not {"dist", "vendor", "bundles"} & set(path.parts)


def run(*command, cwd=None):
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def cargo(name, version, into):
    """Lets cargo fetch one release into the empty folder `into`."""
    with tempfile.TemporaryDirectory() as work:
        path = pathlib.Path(work)
        (path / "lib.rs").touch()
        (path / "Cargo.toml").write_text(
            '[package]\nname = "mine"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[workspace]\n'
            f'[dependencies.it]\npackage = "{name}"\nversion = "={version.split("+")[0]}"\ndefault-features = false\n'
        )
        run("cargo", "vendor", "--quiet", "--versioned-dirs", "all", cwd=work)
        for found in (path / "all").glob(f"{name}-{version.split('+')[0]}*"):
            shutil.move(found, into)


@functools.cache
def with_pip():
    """A Python with pip: that of Debian has none, but can create an environment with it."""
    if importlib.util.find_spec("pip"):
        return sys.executable
    work = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, work)
    run(sys.executable, "-m", "venv", work)
    return os.path.join(work, "bin", "python")


def pip(name, version, into):
    with tempfile.TemporaryDirectory() as work:
        run(with_pip(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--only-binary", ":all:", "--python-version", "3.12", "--dest", work, f"{name}=={version}")
        for found in pathlib.Path(work).glob("*.whl"):
            with zipfile.ZipFile(found) as archive:
                archive.extractall(into)


def npm(name, version, into):
    with tempfile.TemporaryDirectory() as work:
        run("npm", "pack", "--silent", "--pack-destination", work, f"{name}@{version}")
        for found in pathlib.Path(work).glob("*.tgz"):
            with tarfile.open(found) as archive:
                archive.extractall(into, filter="data")


def pair(target, name, path, old, new):
    """Stores one file before and after a change."""
    if old == new or not is_source(path) or max(len(old), len(new)) > LARGEST or b"\0" in old + new:
        return 0
    for side, content in (("old", old), ("new", new)):
        file = target / side / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return 1


def releases(target, client, name, old, new):
    fetch = {"cargo": cargo, "pip": pip, "npm": npm}[client]
    with tempfile.TemporaryDirectory() as work:
        sides = [pathlib.Path(work) / side for side in ("old", "new")]
        for side, version in zip(sides, (old, new)):
            fetch(name, version, side)
        count = 0
        for before in sorted(sides[0].rglob("*")):
            after = sides[1] / before.relative_to(sides[0])
            if before.is_file() and after.is_file():
                path = str(before.relative_to(sides[0]))
                count += pair(target, name, path, before.read_bytes(), after.read_bytes())
    return count


def commits(target, clone):
    """The latest commits of a clone, each a pair of trees."""
    def git(*arguments):
        return subprocess.run(("git", "-C", clone, *arguments), check=True, capture_output=True).stdout

    name = pathlib.Path(clone).resolve()
    name = name.parent.name if name.name in ("repo", ".git") else name.name
    count = 0
    for commit in git("rev-list", "--no-merges", f"--max-count={COMMITS}", "HEAD").decode().split():
        fields = git("diff-tree", "--root", "-r", "-z", "--no-commit-id", "--diff-filter=M", commit).decode(
            errors="replace").split("\0")
        for entry, path in list(zip(fields[::2], fields[1::2]))[:FILES_PER_COMMIT]:
            _, _, old, new, _ = entry.split()
            if is_source(path):
                try:
                    before, after = git("cat-file", "blob", old), git("cat-file", "blob", new)
                except subprocess.CalledProcessError:  # a clone may lack its largest files
                    continue
                count += pair(target, f"{name}-{commit[:8]}", path, before, after)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--git", action="append", default=[], metavar="CLONE")
    parser.add_argument("dir", type=pathlib.Path)
    options = parser.parse_args()
    done = options.dir / ".done"
    done.mkdir(parents=True, exist_ok=True)
    sources = [("-".join((name, old, new)), lambda all=(client, name, old, new): releases(options.dir, *all))
               for client, name, old, new in SMALL + (LARGE if options.large else ())]
    sources += [(clone.strip("/").replace("/", "+"), lambda clone=clone: commits(options.dir, clone))
                for clone in options.git]
    failed = 0
    for name, fetch in sources:
        mark = done / name
        if mark.exists():
            continue
        try:
            count = fetch()
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        print(f"{name}: {count} files that differ")
        mark.touch()
    if failed:
        print(f"{failed} of {len(sources)} could not be fetched; run it again to fetch those", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
