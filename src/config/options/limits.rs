//! The options under the heading "Limits".

use crate::config::{NumberField, OptionRow, UNBOUNDED, ValueKind};

pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

pub(super) const LIMITS: &[OptionRow] = &[
    OptionRow {
        flag: "max-output",
        help: "Longest text of one answer, for every client [default: by the name that the client sends; 40 KB if \
               it is not known; `rootbound doctor` shows the table]",
        // An error with its hint needs up to a thousand bytes; no model takes 10 MiB.
        kind: ValueKind::Size(1_000..=10 * MIB, |config| NumberField::OptUsize(&mut config.settings.max_output)),
    },
    OptionRow {
        flag: "max-file-size",
        help: "Largest file that edit and write accept, and largest PDF that read accepts",
        kind: ValueKind::Size(1..=u32::MAX as u64, |config| NumberField::U64(&mut config.settings.max_file_size)),
    },
    OptionRow {
        flag: "max-image-size",
        help: "Largest image that read sends, or several in one answer together; larger ones are scaled down or \
               compressed [default: 700KiB, less for a client that accepts less]",
        // The message with the image is in memory several times.
        kind: ValueKind::Size(1..=256 * MIB, |config| NumberField::OptUsize(&mut config.settings.max_image_size)),
    },
    OptionRow {
        flag: "max-search-file-size",
        help: "Largest file that grep reads when it searches a directory",
        kind: ValueKind::Size(1..=UNBOUNDED, |config| NumberField::U64(&mut config.settings.max_search_file_size)),
    },
    OptionRow {
        flag: "time-limit",
        help: "Time that one call may take before it changes anything",
        // Clients give up long before an hour.
        kind: ValueKind::Seconds(3_600.0, |config| &mut config.server.deadline),
    },
    OptionRow {
        flag: "wait-limit",
        help: "Longest time that one call of wait may take; it ends earlier if the client is known to end a call earlier",
        // A day at most, as for a person's answer.
        kind: ValueKind::Seconds(86_400.0, |config| &mut config.server.wait_limit),
    },
    OptionRow {
        flag: "wait-polling",
        help: "Let wait look for changes ten times a second, without inotify: where events are not reported, or watches are \
               few. It does so by itself on file systems that are not known to report each change",
        kind: ValueKind::Switch(|config| &mut config.server.wait_polling),
    },
    OptionRow {
        flag: "confirm-time-limit",
        help: "Time that a person may take to answer; without an answer the change is not made",
        // A person may be away for a day.
        kind: ValueKind::Seconds(86_400.0, |config| &mut config.server.confirm_limit),
    },
    OptionRow {
        flag: "max-concurrent",
        help: "Searches that run at the same time [default: twice the processors, at least 4]. At most 1024 calls, of \
               64 MiB in all, wait or run at the same time; others are refused and can be sent again",
        kind: ValueKind::Count(1..=256, |config| NumberField::OptUsize(&mut config.server.max_concurrent)),
    },
    OptionRow {
        flag: "max-files-created",
        help: "Files and directories that one session may create",
        kind: ValueKind::Count(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.files)),
    },
    OptionRow {
        flag: "max-bytes-written",
        help: "Bytes that one session may write",
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::U64(&mut config.quota.bytes)),
    },
    OptionRow {
        flag: "max-root-size",
        help: "Refuse to write below a directory whose files would exceed this in total; counted at most once per \
               minute, and up to 500000 entries [default: no limit]",
        kind: ValueKind::Size(0..=UNBOUNDED, |config| NumberField::OptU64(&mut config.quota.root_bytes)),
    },
    OptionRow {
        flag: "max-arguments",
        help: "Number of arguments of one call",
        kind: ValueKind::Count(1..=10_000, |config| NumberField::Usize(&mut config.settings.max_arguments)),
    },
    OptionRow {
        flag: "max-nesting",
        help: "Depth of lists and objects in the arguments of one call",
        kind: ValueKind::Count(1..=100, |config| NumberField::Usize(&mut config.settings.max_nesting)),
    },
    OptionRow {
        flag: "max-glob",
        help: "Longest glob. Braces are not expanded, so this also limits the compiled glob",
        // The parser needs time and stack in proportion to the pattern.
        kind: ValueKind::Size(1..=MIB, |config| NumberField::Usize(&mut config.settings.patterns.glob)),
    },
    OptionRow {
        flag: "max-regex",
        help: "Longest pattern of grep",
        kind: ValueKind::Size(1..=MIB, |config| NumberField::Usize(&mut config.settings.patterns.regex)),
    },
    OptionRow {
        flag: "max-regex-size",
        help: "Largest compiled pattern of grep, which also limits the time to compile it",
        // Below 64 KiB a class such as `\w` does not compile; each search thread may need this size.
        kind: ValueKind::Size(64 * KIB..=GIB, |config| NumberField::Usize(&mut config.settings.patterns.compiled)),
    },
    OptionRow {
        flag: "max-regex-repeats",
        help: "Positions that the counted repetitions of a pattern may expand to, such as 6000 for `(.{1,100}){1,60}`",
        kind: ValueKind::Count(1..=1_000_000, |config| NumberField::Usize(&mut config.settings.patterns.repeated)),
    },
    OptionRow {
        flag: "max-message",
        help: "Longest message that is read from the client",
        // A write of a source file needs up to 64 KiB.
        kind: ValueKind::Size(64 * KIB..=256 * MIB, |config| NumberField::Usize(&mut config.server.max_line)),
    },
];
