"""`python -m rootbound`: becomes the program that was installed with this package."""

import os
import subprocess
import sys
import sysconfig


def program():
    name = "rootbound.exe" if os.name == "nt" else "rootbound"
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [sysconfig.get_path("scripts")]
    user = "nt_user" if os.name == "nt" else "posix_user"
    for scheme in (user, "osx_framework_user"):
        if scheme in sysconfig.get_scheme_names():
            folders.append(sysconfig.get_path("scripts", scheme))
    # `pip install --target` and `--prefix`.
    folders.append(os.path.join(package, "bin"))
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(package))), "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    sys.exit("rootbound: the program is not in " + ", ".join(folders) + "\n\nhint: install again: pip install --force-reinstall rootbound")


if __name__ == "__main__":
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        # There, exec ends this process at once, and a client takes that for the end of the server.
        try:
            sys.exit(subprocess.call(command))
        except KeyboardInterrupt:
            sys.exit(2)
    os.execv(command[0], command)
