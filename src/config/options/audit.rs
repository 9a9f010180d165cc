//! The options about what is recorded of calls and changes.

use crate::config::{NumberField, OptionRow, UNBOUNDED, ValueKind};

use super::limits::KIB;

pub(super) const AUDIT: &[OptionRow] = &[
    OptionRow {
        flag: "audit",
        help: "Append one JSON line for each call: when, who, what, where, how it ended and the revision of each \
               changed file before and after; of content only its length and SHA-256. The folder of the file must be outside of the directories offered",
        kind: ValueKind::Text("FILE"),
    },
    OptionRow {
        flag: "audit-label",
        help: "Text in each line of the audit that says which server wrote it, of at most 100 characters",
        kind: ValueKind::Text("TEXT"),
    },
    OptionRow {
        flag: "audit-required",
        help: "Refuse calls that cannot be recorded; a change is recorded before it is made as well",
        kind: ValueKind::Switch(|config| &mut config.audit.required),
    },
    OptionRow {
        flag: "audit-size",
        help: "Size at which the audit file is renamed to FILE.1 (up to FILE.5)",
        // A line takes up to 64 KiB.
        kind: ValueKind::Size(64 * KIB..=UNBOUNDED, |config| NumberField::U64(&mut config.audit.size)),
    },
    OptionRow {
        flag: "events",
        help: "Write one JSON line for each change that is made, such as file.written, to this file, FIFO or listening \
               socket (unix:PATH), for interfaces and plug-ins; never waited for. It must be outside of the directories offered",
        kind: ValueKind::Text("FILE"),
    },
    OptionRow {
        flag: "events-size",
        help: "Size at which the events file is renamed to FILE.1 (up to FILE.5)",
        kind: ValueKind::Size(64 * KIB..=UNBOUNDED, |config| NumberField::U64(&mut config.events.size)),
    },
];
