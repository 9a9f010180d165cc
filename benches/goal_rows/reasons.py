"""Why a row misses its goal, by the key of the row, or by the key and what it is compared with."""

REASONS = {
    "start": "the pages of the program are loaded, two sandboxes set up (Landlock, seccomp), and its own files and the rules"
             " for agents looked up (docs/internals/start.md).",
    "start, `true`": "0.35 ms are those of any process. The rest are 113 faults for pages of the program and its heap,"
                     " Landlock (6 calls), a filter of calls that the kernel compiles, and 40 calls that look for rule"
                     " files and links (docs/internals/start.md).",
    "resident": "0.7 MiB after the start are the server's own; the rest are mapped pages of the program, which it shares"
                " with the other servers on the machine. How many are mapped depends on the page cache.",
    "size": "this is the program of the packages, for musl; one with glibc is 0.9 MB larger. What is left is spread over 30,000"
            " functions.",
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
    "first grep": "both processors are busy all the time, three quarters of it in the kernel: open, stat, read and close of"
                  " each file. A program in C that lists the directories with two threads and only opens, reads and closes"
                  " each file takes 0.64 of the time of `rg` in the Linux sources; that Landlock checks each open adds 0.1.",
    "first glob": "one thread walks, and `rg` and `fd` list with two; newest first needs a `stat` of each match, which they do"
                  " not make. With a stored index it is the row of a process per call.",
    "stored": "of 7.4 ms in the small tree, 2.2 are any call of the program (start, Landlock, answer); the rest are 3,400"
              " `stat`, of each directory and each file, and the reading of the index.",
    "build": "reading all files takes most of it: 5.3 s on a machine on which `rg` needs a tenth less for the first row.",
    "per call": "a running server is told of changes by the kernel and answers from memory; nobody watched before a new"
                " process, so it asks for the state of each directory, and for grep of each file.",
    "wide": "the names of one directory are compared one by one; fff-mcp does not look at the disk before it answers.",
    "repeat glob": "32,000 paths are matched and ordered by their times; fff-mcp gives 200 without that order.",
    "repeat grep, rare literal": "0.9 of 1.3 ms are those of a query without a hit; the file that is left is opened"
                                 " beneath its directory, searched, and its line shown. fff-mcp looks at nothing on the disk.",
    "repeat grep, regex with literals": "160 of 3,000 files are left by their 3-grams and 4-grams, and are read.",
    "repeat grep, three-byte literal": "one 3-gram decides: 204 of 3,000 files have its three columns by chance, and are read.",
    "repeat grep, beyond ASCII, any case": "the pattern of the small tree is `ß`: it and its other case, `ẞ`, have six columns"
                                           " each, and the files that have them are read. fff-mcp looks at nothing on the disk.",
    "repeat grep, common word": "the filter leaves nearly all files; 500 of them are read and counted.",
    "first of a common word": "it takes as long as in the large tree, 2 to 3 ms, where `rg` has 24 times less to search.",
    "repeat grep, factored alternation": "the filter leaves files that have the parts of the words in other words: 536 of 3,000,"
                                         " 9,055 of 78,000; each is read. Spelled out, the words take as long.",
    "containment": "Landlock checks each open, and how near a rule is does not matter: a program in C that opens, reads and"
                   " closes 78,255 files with one thread takes 473 ms without a rule, 549 with one for the root, 550 with 25 for"
                   " the folders in it, and 549 with one for each of 5,979 folders, which take 25 ms to set up.",
}
