"""Why a row misses its goal, by the key of the row, or by the key and what it is compared with."""

REASONS = {
    "start": "the pages of the program are loaded, two sandboxes set up (Landlock, seccomp), and its own files and the rules"
             " for agents looked up (docs/start.md).",
    "start, `true`": "0.35 ms are those of any process. The rest are 113 faults for pages of the program and its heap,"
                     " Landlock (6 calls), a filter of calls that the kernel compiles, and 40 calls that look for rule"
                     " files and links (docs/start.md).",
    "resident": "0.7 MiB after the start are the server's own; the rest are mapped pages of the program, which it shares"
                " with the other servers on the machine. How many are mapped depends on the page cache.",
    "size": "the program for musl, which the packages have, is 0.9 MB smaller than this one, which has glibc linked in.",
    "read": "a read takes 48 µs of processor time, the bare server 25: five system calls on the file, line numbers,"
            " metadata. Pinned to one processor (`taskset -c 0`) the ratio is 1.6; the rest is a second processor that goes"
            " to sleep.",
    "concurrent": "as the round trip of one read.",
    "write": "a bare rmcp server takes 3.8 ms to receive 1 MB as an argument and to answer, in a run where this write took"
             " 4.3 and that of server-filesystem 9.9. The file and its folder are synced (0.7 and 0.1 ms on a quiet disk),"
             " which the others do not do; 0.35 ms are the rename and the freed blocks of the old file.",
    "edit": "of 2.7 ms, 1.2 are the syncs, the new file's pages and the rename, as any program that loses nothing has them"
            " (server-filesystem does not sync). The old content is read and compared three times in 0.4 ms (planned on,"
            " under the lock, after the exchange); the hash of the new one runs beside the sync.",
    "ls": "the kernel takes two thirds of the time to list it; the rest is sorting, and a name and an entry for each file.",
    "first grep": "both processors are busy all the time: one open, stat, read and close for each file take three quarters"
                  " of it, as they do for `rg`; the sandbox takes 8 %. The cycles are 0.9 of those of `rg`.",
    "first glob": "one thread walks, and `rg` lists with two; newest first needs a `stat` of each match, which the others"
                  " do not make.",
    "stored": "71,000 `stat`, 5,000 directories opened and listed, and 8,000 opened again by the other thread take six tenths"
              " of the time of both processors; the rest is names, ignore rules and the comparison with what is stored. A"
              " thread that lists directories ahead of the walk made it slower, as no processor is idle.",
    "per call": "a running server answers from memory; a new process lists the whole tree, as only a walk knows the names.",
    "wide": "the names of one directory are compared one by one; fff-mcp does not look at the disk before it answers.",
    "repeat glob": "32,000 paths are matched and ordered by their times; fff-mcp gives 200 without that order.",
    "repeat grep, beyond ASCII, any case": "the filter leaves files that have these bytes in other words; each is read.",
    "repeat grep, factored alternation": "the filter leaves files that have the parts of the words in other words; each is"
                                         " read. Spelled out, the words take as long.",
    "containment": "Landlock checks each open against its rules, from the file up to the root.",
}
