//! How much of an answer each client accepts: a table with a source for each known client.
//!
//! A client is known by the name in its `clientInfo`. It cuts a larger answer in the middle, refuses it, or moves it
//! out of the conversation; an answer within the budget arrives as it was sent.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use file_tools::{AnswerBudget, LongestWait, Settings, TextUnit, WaitBound};

#[derive(Debug)]
struct ClientRow {
    title: &'static str,
    /// Beginnings of `clientInfo.name`. Case, separators and versions do not matter.
    names: &'static [&'static str],
    /// Whether it is this client only if a directory is offered under this name, as others have its name, too.
    below: Option<&'static str>,
    budget: AnswerBudget,
    /// After how many seconds it ends a call, unless a person configures it otherwise.
    call_seconds: u64,
}

const fn text(unit: TextUnit, limit: usize) -> AnswerBudget {
    AnswerBudget { unit, ..AnswerBudget::bytes(limit) }
}

/// The clients that are known; the first row that fits counts.
static CLIENTS: &[ClientRow] = &[
    ClientRow {
        title: "Codex",
        names: &["codex"],
        below: None,
        // Version 0.171.0 cuts the text of all blocks, the time that the call took included, at 12,000 bytes, or at
        // 48,000 where it knows the model. Earlier ones cut their JSON at 10,000 bytes.
        budget: text(TextUnit::JsonBytes, 9_500),
        call_seconds: 60,
    },
    ClientRow {
        title: "Claude Code",
        names: &["claude-code"],
        below: None,
        // A fifth is left free, as tokens are only estimated here.
        budget: text(TextUnit::Tokens, 20_000),
        // The default of `MCP_TOOL_TIMEOUT`: 100,000,000 milliseconds.
        call_seconds: 100_000,
    },
    ClientRow {
        title: "Gemini CLI",
        names: &["gemini-cli"],
        below: None,
        // It wraps the text in two lines before it counts, in UTF-16 units.
        budget: text(TextUnit::Characters, 39_000),
        call_seconds: 600,
    },
    ClientRow {
        title: "opencode, Kilo Code",
        names: &["opencode", "kilo"],
        below: None,
        budget: text(TextUnit::BytesOfLines, 49_000),
        // The time that `rootbound setup` writes.
        call_seconds: 60,
    },
    ClientRow {
        title: "Copilot CLI",
        names: &["copilot-cli", "github-copilot-developer"],
        below: None,
        // Found with version 1.0.102 and texts of 20,400 and 20,500 bytes.
        budget: text(TextUnit::Bytes, 20_000),
        call_seconds: 60,
    },
    ClientRow {
        title: "Qwen Code",
        // The first is followed by the name of the server.
        names: &["qwen-cli", "qwen-code"],
        below: None,
        // Found with version 0.24.4; a line break at the end begins a line. A character is a byte at least.
        budget: text(TextUnit::BytesOfLines, 24_500),
        call_seconds: 60,
    },
    ClientRow {
        title: "Cline",
        names: &["@cline/core", "cline"],
        below: None,
        // It counts the JSON of the whole result, `_meta` included, and shows all of that to the model.
        budget: AnswerBudget { has_facts: false, ..text(TextUnit::JsonBytes, 7_700) },
        // The time that `rootbound setup` writes.
        call_seconds: 60,
    },
    ClientRow {
        title: "Claude Desktop",
        names: &["claude-ai", "claude-desktop"],
        below: None,
        // 600 KiB of images are 819,200 characters of base64. The text, the data and the facts have to fit, too.
        budget: AnswerBudget { image_bytes: 600 << 10, ..text(TextUnit::JsonBytes, 90_000) },
        call_seconds: 60,
    },
    ClientRow {
        title: "DeerFlow",
        // The default name of the Python SDK, which says nothing of the client: the directories decide.
        names: &["mcp"],
        below: Some("/mnt/user-data"),
        // It makes each relative path that exists some 25 characters longer, and counts after that.
        budget: text(TextUnit::CharactersWithPaths, 11_000),
        // It has no limit of its own: this is the one that `rootbound setup` writes.
        call_seconds: 60,
    },
];

/// The row of a client called `name`, where the directories are offered under `mounts`.
fn client_row(name: Option<&str>, mounts: &[impl AsRef<Path>]) -> Option<&'static ClientRow> {
    let given = name.map(words).unwrap_or_default();
    let is_below = |top: &str| mounts.iter().any(|mount| mount.as_ref().starts_with(top));
    let fits = |row: &&ClientRow| {
        row.names.iter().any(|name| match row.below {
            // A name that says so little has to be all of it.
            Some(top) => given == words(name) && is_below(top),
            None => begins_with(&given, &words(name)),
        })
    };
    CLIENTS.iter().find(fits)
}

fn longest_wait(row: &ClientRow) -> LongestWait {
    let after = Duration::from_secs(row.call_seconds);
    // A sixth is left for the look and the way of the answer.
    LongestWait { limit: after * 5 / 6, by: WaitBound::Client(Some(row.title), after) }
}

/// The words of a name in lower case, without what follows the first that is a version or in parentheses.
fn words(name: &str) -> Vec<String> {
    let is_version =
        |word: &&str| word.trim_start_matches(['v', 'V']).starts_with(|first: char| first.is_ascii_digit());
    let name = name.split('(').next().unwrap_or_default();
    let words = name.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take_while(|word| !is_version(word)).map(str::to_lowercase).collect()
}

/// Whether the first words of `given`, in one, are `name` in one: `Claude Code` and `claudecode` are `claude-code`.
fn begins_with(given: &[String], name: &[String]) -> bool {
    let name = name.concat();
    (1..=given.len()).any(|words| given[..words].concat() == name)
}

/// The largest answer to a client, and the longest wait of a call.
type ClientLimits = (AnswerBudget, LongestWait);

/// The budgets of the calls of one connection, worked out once for each name in turn.
#[derive(Debug)]
pub(super) struct ClientBudgets {
    mounts: Vec<String>,
    /// Bytes of text that a person has set for every client.
    max_output: Option<usize>,
    max_image_size: Option<usize>,
    last: Mutex<Option<(Option<String>, ClientLimits)>>,
}

impl ClientBudgets {
    /// Budgets where directories are offered under `mounts`. What a person has set in `settings` wins.
    pub(super) fn new(mounts: Vec<String>, settings: &Settings) -> Self {
        let Settings { max_output, max_image_size, .. } = *settings;
        Self { mounts, max_output, max_image_size, last: Mutex::new(None) }
    }

    /// The budget of a call of the client of that name, and how long it may wait.
    pub(super) fn of(&self, name: Option<&str>) -> ClientLimits {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // The name comes with each request of 2026-07-28, and is nearly always the same.
        if let Some((known, limits)) = &*last
            && known.as_deref() == name
        {
            return *limits;
        }
        let row = client_row(name, &self.mounts);
        let own = row.map_or(AnswerBudget::UNKNOWN_CLIENT, |row| row.budget);
        let of_text = self.max_output.map_or(own, AnswerBudget::bytes);
        let image_bytes = self.max_image_size.unwrap_or(own.image_bytes);
        let budget = AnswerBudget { image_bytes, has_facts: own.has_facts, ..of_text };
        let limits = (budget, row.map_or_else(LongestWait::default, longest_wait));
        *last = Some((name.map(str::to_owned), limits));
        limits
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn limit(name: &str, mounts: &[&str]) -> usize {
        client_row(Some(name), mounts).map_or(AnswerBudget::UNKNOWN_CLIENT, |row| row.budget).limit
    }

    #[test]
    fn wait_ends_before_the_client_ends_the_call() {
        let budgets = ClientBudgets::new(Vec::new(), &Settings::default());
        let seconds = |name| budgets.of(name).1.limit.as_secs();
        assert_eq!((seconds(Some("codex-mcp-client")), seconds(Some("gemini-cli")), seconds(None)), (50, 500, 50));
        for row in CLIENTS {
            assert!(longest_wait(row).limit < Duration::from_secs(row.call_seconds), "{}", row.title);
        }
    }

    #[test]
    fn names_match_whatever_their_case_separators_and_version() {
        for (names, expected) in [
            (
                &["codex-mcp-client", "Codex", "codex_mcp_client 0.99.0", "CODEX-MCP-CLIENT (via mcp-remote 0.1)"][..],
                9_500,
            ),
            (&["claude-code", "Claude Code", "claudecode", "claude-code/2.1.3"], 20_000),
            (&["claude-ai", "Claude AI", "claude.ai", "Claude Desktop v1.2"], 90_000),
            (&["gemini-cli-mcp-client", "Gemini CLI 0.61.0"], 39_000),
            (&["qwen-cli-mcp-client-files", "qwen-cli-mcp-client-my-server", "qwen-code-mcp-client"], 24_500),
            (&["copilot-cli", "github-copilot-developer"], 20_000),
            (&["opencode", "kilo"], 49_000),
            (&["@cline/core", "Cline 3.0.65"], 7_700),
            (&["", "codexes", "claude", "mcp", "my-claude-code", "2.0"], 40_000),
        ] {
            for name in names {
                assert_eq!(limit(name, &["/srv"]), expected, "{name}");
            }
        }
    }

    #[test]
    fn deerflow_is_the_python_sdk_with_its_directory() {
        for (name, mounts, expected) in [
            ("mcp", &["/mnt/user-data/workspace"][..], 11_000),
            ("MCP 1.30.0", &["app", "/mnt/user-data"], 11_000),
            ("mcp", &["/mnt/user-database", "app"], 40_000),
            ("mcp-inspector", &["/mnt/user-data/workspace"], 40_000),
        ] {
            assert_eq!(limit(name, mounts), expected, "{name} {mounts:?}");
        }
    }

    #[test]
    fn a_size_that_a_person_has_set_is_that_of_every_client() {
        let settings = |max_output, max_image_size| Settings { max_output, max_image_size, ..Settings::default() };
        let set = ClientBudgets::new(Vec::new(), &settings(Some(5000), Some(70)));
        for name in [Some("claude-code"), None, Some("codex-mcp-client")] {
            let (budget, _) = set.of(name);
            assert_eq!((budget.limit, budget.unit, budget.image_bytes), (5000, TextUnit::Bytes, 70));
        }
        assert!(set.of(None).0.has_facts && !set.of(Some("@cline/core")).0.has_facts);
        let own = ClientBudgets::new(Vec::new(), &settings(None, None));
        assert_eq!(own.of(Some("codex")).0.image_bytes, AnswerBudget::IMAGE_BYTES);
        assert_eq!(
            (own.of(Some("claude-code")).0.limit, own.of(Some("codex")).0.limit, own.of(None).0.limit),
            (20_000, 9_500, 40_000)
        );
    }

    /// What docs/clients.md has of a client besides its row: the effect of a larger answer and where that is from, where the
    /// time of a call is from, the versions tried, and what lets it change files where nobody can be asked.
    fn in_the_page(title: &str) -> [&'static str; 5] {
        match title {
            "Codex" => [
                "cuts the middle out at 12,000 bytes, 48,000 for known models",
                "https://github.com/openai/codex/issues/7906",
                "https://developers.openai.com/codex/mcp",
                "0.171.0",
                "`default_tools_approval_mode = \"approve\"` in `[mcp_servers.files]`",
            ],
            "Claude Code" => [
                "refuses more than 25,000 tokens, and moves more than 50,000 characters out of the conversation",
                // The characters were found with version 2.1.332 and texts of 49,900 and 50,100.
                "https://code.claude.com/docs/en/mcp#mcp-output-limits-and-warnings",
                "https://code.claude.com/docs/en/mcp",
                "2.1.332",
                "`--allowedTools mcp__files`",
            ],
            "Gemini CLI" => [
                "cuts the middle out at 40,000 characters",
                // Found with version 0.61.0 and texts of 39,000 and 40,001 characters.
                "https://github.com/google-gemini/gemini-cli",
                "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
                "0.61.0",
                "`\"trust\": true` in its entry, else `-p` hides these tools",
            ],
            "opencode, Kilo Code" => [
                "keeps the beginning, and moves all of it out of the conversation, at 51,200 bytes or 2,000 lines",
                "https://github.com/anomalyco/opencode/pull/23770",
                "https://opencode.ai/docs/mcp-servers",
                "1.18.33, 7.7.9",
                "nothing",
            ],
            "Copilot CLI" => [
                "moves more than 20,480 bytes out of the conversation, with the data of `--structured-output`",
                "https://github.com/github/copilot-sdk/issues/1091",
                "https://github.com/github/copilot-cli",
                "1.0.102",
                "`--allow-tool files`",
            ],
            "Qwen Code" => [
                "cuts the middle out at 25,000 characters or 1,000 lines",
                "https://github.com/QwenLM/qwen-code/discussions/12791",
                "https://github.com/QwenLM/qwen-code",
                "0.24.4",
                "`--approval-mode yolo`",
            ],
            "Cline" => [
                "cuts the middle out at 8,000 characters of its JSON, `_meta` included, which its model sees",
                // Found with version 3.0.65.
                "https://github.com/cline/cline",
                "https://docs.cline.bot/mcp/mcp-overview",
                "3.0.65",
                "nothing",
            ],
            "Claude Desktop" => [
                "refuses more than 1,048,576 characters, images in base64 included",
                "https://github.com/jlowin/fastmcp/issues/1036",
                "https://github.com/anthropics/claude-code/issues/22542",
                "",
                "not tried",
            ],
            "DeerFlow" => [
                "moves more than 12,000 characters out of the conversation, after it has rewritten paths",
                "https://github.com/bytedance/deer-flow/blob/main/backend/packages/harness/deerflow/mcp/tools.py",
                "https://github.com/bytedance/deer-flow/blob/main/backend/packages/harness/deerflow/mcp/tools.py",
                "code of 2026-08",
                "nothing",
            ],
            title => panic!("{title} has no text for docs/clients.md"),
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the documentation is no file of a workspace")]
    fn clients_page_has_each_row() {
        const BEGIN_MARK: &str = "clients_page` -->\n";
        const END_MARK: &str = "<!-- end of clients -->";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
        let text = std::fs::read_to_string(&path).expect("docs/clients.md");
        let (before, rest) = text.split_once(BEGIN_MARK).expect("a mark before the clients");
        let (rows, after) = rest.split_once(END_MARK).expect("a mark after the clients");
        let mut expected = String::from(
            "\n| client | tried | known by | an answer holds | the client | from | ends a call after | from | without a person |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        for ClientRow { title, names, below, budget, call_seconds } in CLIENTS {
            let [beyond, source, call_source, tried, alone] = in_the_page(title);
            let below = below.map_or_else(String::new, |below| format!(", and a directory called `{below}/…`"));
            let names = names.join("`, `");
            let _ = writeln!(
                expected,
                "| {title} | {tried} | `{names}`{below} | {budget} | {beyond} | <{source}> | {call_seconds} s | <{call_source}> | {alone} |"
            );
        }
        let _ = write!(
            expected,
            "| any other | | | {} | is not known | | 60 s, as an SDK does | <https://github.com/modelcontextprotocol/typescript-sdk/issues/245> | |\n\n",
            AnswerBudget::UNKNOWN_CLIENT
        );
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, format!("{before}{BEGIN_MARK}{expected}{END_MARK}{after}")).expect("written");
        } else {
            assert_eq!(rows, expected, "docs/clients.md differs from the table: run the command that it names");
        }
    }
}
