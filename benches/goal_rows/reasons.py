"""Why a row misses its goal, by the key of the row, or by the key and what it is compared with."""

REASONS = {
    "start": "two sandboxes are set up (Landlock, seccomp), the pages of the program are loaded, and its own files and the"
             " rules for agents are looked up (about 60 system calls).",
    "resident": "0.7 MiB after the start are the server's own; the rest are mapped pages of the program, which it shares"
                " with the other servers on the machine. How many are mapped depends on the page cache: 7.7 to 9.5 MiB were"
                " seen of one file.",
    "read": "a read takes 48 µs of processor time, the bare server 25: five system calls on the file, line numbers,"
            " metadata. Pinned to one processor (`taskset -c 0`) the ratio is 1.6; the rest is a second processor that goes"
            " to sleep.",
    "concurrent": "as the round trip of one read.",
    "write": "the file and its folder are synced (1.2 ms), which the others do not do; the diff takes a quarter of the"
             " processor time, and the hash that recognises a changed file a tenth.",
    "edit": "as a write.",
    "ls": "the kernel takes two thirds of the time to list it; the rest is sorting.",
    "first grep": "77 % of the time is the kernel's: one open, stat, read and close for each file, where `rg` reads three"
                  " times; the sandbox takes 8 %.",
    "containment": "Landlock checks each open against its rules, from the file up to the root.",
}
