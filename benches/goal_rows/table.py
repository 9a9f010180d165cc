"""The table: works measured in turn, with the spread of their runs."""
import os
import statistics
import time

from .reasons import REASONS
from .servers import Failed

# The runs of one row take about so many seconds; a slow peer has fewer rounds, but at least three.
BUDGET = 14


def spread(times, each):
    """Median, and the lowest and the highest."""
    unit, factor = ("ms", 1e3) if statistics.median(times) / each >= 1e-4 else ("µs", 1e6)
    middle, low, high = (value * factor / each for value in (statistics.median(times), min(times), max(times)))
    digits = 0 if middle >= 100 else 1 if middle >= 10 else 2
    return f"{middle:.{digits}f} {unit} ({low:.{digits}f}–{high:.{digits}f})"


class Table:
    """The rows, printed one by one."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.rows, self.missed, self.wrong = [], {}, []

    def heading(self, title):
        self.add(f"**{title}**", "", "", "", "", "")

    def begin(self):
        self.rows = ["| work | rootbound (lowest–highest) | compared with | | ratio | goal |",
                     "|---|---:|---|---:|---:|---:|"]
        print("\n".join(self.rows), flush=True)

    def add(self, *cells):
        self.rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        print(self.rows[-1], flush=True)

    def miss(self, key, other, name, word="missed"):
        """The reason may depend on what it is compared with."""
        key = f"{key}, {other}" if f"{key}, {other}" in REASONS else key
        self.missed.setdefault(key, []).append(name)
        return f" **{word}**"

    def compare(self, key, name, mine, others, rounds=None, each=1, check=None):
        """All in turn, each round beginning with another one.

        `others` has the name of each reference, its work, and the highest ratio of the medians that is the goal, or
        None. A work returns its seconds, or None if it is timed here. `each` is the number of calls
        of one run. `check` raises `Failed` for a wrong answer. `key` finds the reason of a row that misses its goal.
        """
        try:
            if check:
                check()
            works = [mine]
            took = self.time(mine)
        except Failed as error:
            self.wrong.append(f"{name}: {error}")
            self.add(name, f"**wrong: {error}**", "", "", "", "")
            return
        known, failed = [], {}
        for other, work, goal in others:
            try:
                took += self.time(work)
                works.append(work)
                known.append((other, goal))
            except Failed as error:
                failed[other] = str(error)[:80]
        most = rounds or self.rounds
        count = max(3, min(most, int(BUDGET / took))) if took else most
        times = [[] for _ in works]
        for turn in range(count):
            for at in range(len(works)):
                at = (at + turn) % len(works)
                times[at].append(self.time(works[at]))
        shown, first = name, spread(times[0], each)
        for (other, goal), theirs in zip(known, times[1:]):
            ratio = statistics.median(times[0]) / statistics.median(theirs)
            met = "" if ratio <= (goal or 1) else self.miss(key, other, name, "missed" if goal else "slower")
            aim = f"≤ {goal:g}" if goal else ""
            self.add(shown, first, other, spread(theirs, each), f"{ratio:.3f}", f"{aim}{met}".strip())
            shown, first = "the same", ""
        for other, error in failed.items():
            self.add(shown, first, other, f"failed: {error}", "", "")
            shown, first = "the same", ""

    @staticmethod
    def time(work):
        started = time.perf_counter()
        return work() or time.perf_counter() - started

    def bound(self, key, name, value, unit, goal, others=()):
        """A size, and those of others."""
        met = "" if value <= goal else self.miss(key, "", name)
        theirs = [f"{other} {size:.0f} {unit}" for other, size in others]
        self.add(name, f"{value:.1f} {unit}", ", ".join(theirs), "", "", f"≤ {goal:g} {unit}{met}")

    def unmeasured(self, name, why):
        self.add(name, f"not measured: {why}", "", "", "", "")

    def reasons(self):
        """A sentence for each kind of row that missed its goal."""
        lines = []
        for key, rows in self.missed.items():
            reason = REASONS.get(key)
            if not reason:
                print(f"NO REASON is written for {key} in benches/goal_rows/reasons.py: {', '.join(dict.fromkeys(rows))}")
                reason = "no reason is known yet."
            lines.append(f"- *{'; '.join(dict.fromkeys(rows))}*: {reason}")
        return lines


def load():
    return f"{os.getloadavg()[0]:.1f}"
