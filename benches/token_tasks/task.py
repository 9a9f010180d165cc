"""What a task is: a goal, the files it works on, a call script for each server, and one check for all."""
import os

TASKS = []


class NotDone(Exception):
    """A server does not reach the goal; the message is the reason."""


class Task:
    """One goal. The docstring of a subclass is its name in the table.

    Each script calls its server's tools with `call(tool, **arguments)`, which returns the text of the
    answer. It may use what an answer says, as a model would. A server without a script cannot finish:
    a string in place of the method says why.
    """

    # Options that our server needs for this task, besides the default ones.
    options = ()

    def __init_subclass__(cls):
        if cls.__doc__:
            TASKS.append(cls)

    def prepare(self, top):
        """Creates the files of the task in the workspace."""
        raise NotImplementedError

    def rootbound(self, call):
        raise NotImplementedError

    def server_filesystem(self, call):
        raise NotImplementedError

    def rust_mcp_filesystem(self, call):
        raise NotImplementedError

    def check(self, top, said):
        """Raises NotDone unless the disk and the answers are as the goal wants them."""
        raise NotImplementedError


def says(said, *fragments):
    """Checks that the answers hold each fragment."""
    for fragment in fragments:
        if fragment not in said:
            raise NotDone(f"the answers do not hold {fragment.strip()[:50]!r}")


def shows(said, text):
    """Checks that the answers hold each line of a text, whatever numbers stand before the lines."""
    says(said, *(line for line in text.splitlines() if line.strip()))


def holds(top, name, wanted):
    """Checks that a file has exactly the wanted bytes; None: that it does not exist."""
    path = os.path.join(top, name)
    if wanted is None:
        if os.path.lexists(path):
            raise NotDone(f"{name} still exists")
        return
    if not os.path.exists(path):
        raise NotDone(f"{name} does not exist")
    found = content(top, name)
    wanted = wanted.encode() if isinstance(wanted, str) else wanted
    if found != wanted:
        at = next((n for n, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
        raise NotDone(f"{name} has other bytes at {at}: {found[at:at + 12]!r}, not {wanted[at:at + 12]!r}")


def content(top, name):
    with open(os.path.join(top, name), "rb") as file:
        return file.read()


def lines(text, first, last):
    """Lines `first` to `last` of a text, counted from 1."""
    return "".join(text.splitlines(keepends=True)[first - 1:last])


def line_of(text, fragment):
    """The number of the first line that holds a fragment, counted from 1."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if fragment in line)


def relative(found):
    """The paths of a peer's answer, as short as a model could write them."""
    return [path.split("/code/shop/", 1)[-1] for path in found.splitlines() if "/" in path]
