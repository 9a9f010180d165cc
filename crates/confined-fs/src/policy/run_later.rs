//! The default list of files that run later: some program runs or obeys them without asking, so no call writes them.
//!
//! A new name is a word in the row of the page that says so. What one edits every day stays out, though something runs
//! it: workflows, a `Makefile`, `package.json`, `conftest.py` (SECURITY.md, "Names that are refused").

use std::{path::Path, sync::LazyLock};

use super::{Rule, fold};

/// [Rules](Rule::all), and where they come from: the vendor's documentation, or an advisory.
struct Row(&'static str, #[cfg_attr(not(test), expect(dead_code, reason = "says why the row is there"))] &'static str);

pub(super) fn rules() -> impl Iterator<Item = Rule> {
    static RULES: LazyLock<Vec<Rule>> =
        LazyLock::new(|| RUN_LATER.iter().flat_map(|Row(rules, _)| Rule::all(rules)).collect());
    RULES.iter().copied()
}

/// Whether a directory may have the name of a rule: none called `head` is what git begins a repository with
/// (`is_git_directory` in its `setup.c` wants a file or a link), and commands and parts of pages are called so.
pub(super) fn is_harmless_directory(rule: Rule) -> bool {
    rule.written == "head"
}

/// Rules about folders in which agents keep the worktrees of their tasks, in `worktrees`. What else is there (`skills`,
/// `commands`, `rules` …) they load.
const KEEP_WORKTREES: &str =
    ".agents/ .claude/ .codex/ .cursor/ .factory/ .gemini/ .kilo/ .kilocode/ .kiro/ .opencode/ .qwen/ .roo/";

/// Whether a worktree at this path is where an agent keeps them, and no other rule is about it or a path that leads
/// through it, as below `.git` or where it is called `.vscode`.
pub(crate) fn is_place_of_worktrees(relative: &Path) -> bool {
    let path = fold(relative);
    let folders = || KEEP_WORKTREES.split(' ');
    let is_below = |rest: &str| rest.starts_with("worktrees/");
    let is_kept = |tail: &str| folders().any(|folder| tail.strip_prefix(folder).is_some_and(is_below));
    let mut concerned = rules().filter(|rule| rule.matches(&path) || rule.rest_below(&path).is_some());
    path.tails().any(is_kept) && concerned.all(|rule| folders().any(|folder| rule.written == folder))
}

/// The list; the comments group it by what runs a file.
#[rustfmt::skip]
const RUN_LATER: &[Row] = &[
    // Version control: hooks, filters, fsmonitor, aliases. `git~1` is its short name on Windows, with another
    // number where that one was taken.
    Row(".git/", "https://git-scm.com/docs/gitrepository-layout"),
    Row("git~1/ git~2/ git~3/ git~4/", "https://nvd.nist.gov/vuln/detail/CVE-2019-1353"),
    // What a repository has and nothing else: with it, a folder with `objects` and `refs` becomes one. A repository
    // that is there already is known by its content (see `disk_rules/repository`).
    Row("head", "https://git-scm.com/docs/gitrepository-layout"),
    Row(".gitmodules", "https://git-scm.com/docs/gitmodules"),
    Row(".gitconfig .config/git/", "https://git-scm.com/docs/git-config"),
    Row(".githooks/ .git-hooks/", "https://git-scm.com/docs/githooks"),
    Row(".husky/", "https://typicode.github.io/husky/"),
    Row(".hg/ .hgrc", "https://www.mercurial-scm.org/doc/hgrc.5.html"),
    Row(".svn/", "https://svnbook.red-bean.com/en/1.7/svn.advanced.confarea.html"),
    Row(".bzr/", "https://www.breezy-vcs.org/"),
    Row(".jj/", "https://jj-vcs.github.io/jj/latest/config/"),
    // Editors and debuggers: tasks, settings that name programs, scripts read at start
    Row(".vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/mcp.json .vscode/extensions.json .vscode/c_cpp_properties.json .vscode/cmake-kits.json *.code-workspace", "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(".idea/", "https://www.jetbrains.com/help/idea/project-security.html"),
    Row("*.run.xml", "https://www.jetbrains.com/help/idea/run-debug-configuration.html"),
    Row(".ideavimrc", "https://github.com/JetBrains/ideavim"),
    Row(".vs/", "https://learn.microsoft.com/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio"),
    Row(".fleet/", "https://www.jetbrains.com/help/fleet/run-configurations.html"),
    Row(".zed/", "https://zed.dev/docs/tasks"),
    Row(".theia/", "https://theia-ide.org/docs/"),
    Row(".nova/", "https://docs.nova.app/"),
    Row("*.sublime-project", "https://www.sublimetext.com/docs/projects.html"),
    Row(".externaltoolbuilders/", "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.user/concepts/concepts-exttools.htm"),
    Row(".helix/ .config/helix/", "https://docs.helix-editor.com/configuration.html"),
    Row(".vim/ .vimrc _vimrc .gvimrc", "https://vimhelp.org/starting.txt.html"),
    Row(".lvimrc", "https://github.com/embear/vim-localvimrc"),
    Row(".exrc _exrc", "https://vimhelp.org/starting.txt.html"),
    Row(".config/nvim/", "https://neovim.io/doc/user/starting.html"),
    Row(".nvimrc .nvim.lua", "https://neovim.io/doc/user/options.html"),
    Row(".emacs .emacs.d/ .config/emacs/", "https://www.gnu.org/software/emacs/manual/html_node/emacs/Init-File.html"),
    Row(".dir-locals.el .dir-locals-2.el", "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html"),
    Row(".nanorc", "https://www.nano-editor.org/dist/latest/nanorc.5.html"),
    Row(".gdbinit", "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Init-File-in-the-Current-Directory.html"),
    Row(".gdbearlyinit", "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html"),
    Row(".lldbinit*", "https://lldb.llvm.org/man/lldb.html"),
    Row("devcontainer.json .devcontainer.json", "https://containers.dev/implementors/json_reference/"),
    // Agents: settings, hooks, MCP servers, plugins, commands and rules that are taken up unasked. What people write
    // with an agent every day (`AGENTS.md`, `CLAUDE.md`) is not here.
    Row(".claude/ .claude.json", "https://code.claude.com/docs/en/settings"),
    Row(".claude-plugin/", "https://code.claude.com/docs/en/plugins"),
    Row("claude_desktop_config.json", "https://modelcontextprotocol.io/docs/develop/connect-local-servers"),
    Row(".mcp.json", "https://code.claude.com/docs/en/mcp"),
    Row("/mcp.json", "https://modelcontextprotocol.io/docs/develop/connect-local-servers"),
    Row("mcp-config.json", "https://docs.github.com/en/copilot/how-tos/copilot-cli"),
    Row("mcp_config.json", "https://docs.windsurf.com/windsurf/cascade/mcp"),
    Row("mcp_settings.json", "https://docs.roocode.com/features/mcp/using-mcp-in-roo"),
    Row(".agents/", "https://developers.openai.com/codex/skills"),
    Row(".agent/", "https://antigravity.google/docs/rules-workflows"),
    Row(".cursor/", "https://cursor.com/docs/agent/hooks"),
    Row(".cursorrules", "https://cursor.com/docs/context/rules"),
    Row(".gemini/", "https://geminicli.com/docs/reference/configuration/"),
    Row(".codex/", "https://developers.openai.com/codex/config-basic"),
    Row(".windsurf/", "https://docs.windsurf.com/windsurf/cascade/hooks"),
    Row(".windsurfrules", "https://docs.windsurf.com/windsurf/cascade/memories"),
    Row(".codeium/", "https://docs.windsurf.com/windsurf/cascade/mcp"),
    Row(".continue/", "https://docs.continue.dev/reference"),
    Row(".continuerc.json", "https://docs.continue.dev/reference/json-reference"),
    Row(".cline/", "https://docs.cline.bot/"),
    Row(".clinerules/", "https://docs.cline.bot/features/hooks/hook-reference"),
    Row(".roo/", "https://docs.roocode.com/features/mcp/using-mcp-in-roo"),
    Row(".roomodes", "https://docs.roocode.com/features/custom-modes"),
    Row(".roorules*", "https://docs.roocode.com/features/custom-instructions"),
    Row(".kilocode/", "https://kilo.ai/docs/automate/mcp/using-in-kilo-code"),
    Row(".kilo/ kilo.json kilo.jsonc", "https://kilo.ai/docs/"),
    Row(".kilocodemodes", "https://kilo.ai/docs/customize/custom-modes"),
    Row(".amazonq/ .aws/amazonq/", "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-config-CLI.html"),
    Row(".kiro/", "https://kiro.dev/docs/hooks/"),
    Row(".qwen/", "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/"),
    Row(".junie/", "https://www.jetbrains.com/help/junie/project-settings.html"),
    Row(".trae/", "https://docs.trae.ai/ide/rules"),
    Row(".factory/", "https://docs.factory.ai/cli/configuration/settings"),
    Row(".opencode/", "https://opencode.ai/docs/plugins/"),
    Row("opencode.json opencode.jsonc .config/opencode/", "https://opencode.ai/docs/config/"),
    Row(".crush/ .crush.json crush.json", "https://github.com/charmbracelet/crush"),
    Row(".crushrc crushrc", "https://github.com/charmbracelet/crush/tree/main/docs/config"),
    Row(".goose/ .config/goose/", "https://block.github.io/goose/docs/guides/config-files"),
    Row(".goosehints", "https://block.github.io/goose/docs/guides/context-engineering/using-goosehints"),
    Row(".aider.conf.yml", "https://aider.chat/docs/config/aider_conf.html"),
    Row(".openhands/", "https://docs.openhands.dev/openhands/usage/customization/repository"),
    Row(".augment/", "https://docs.augmentcode.com/cli/config"),
    Row(".augment-guidelines", "https://docs.augmentcode.com/setup-augment/guidelines"),
    Row(".amp/", "https://ampcode.com/manual"),
    Row(".copilot/ .github/hooks/ .github/copilot/", "https://docs.github.com/en/copilot/reference/hooks-reference"),
    Row(".github/mcp.json", "https://docs.github.com/en/copilot/how-tos/copilot-cli"),
    Row(".rovodev/", "https://support.atlassian.com/rovo/docs/use-rovo-dev-cli/"),
    Row(".zencoder/", "https://docs.zencoder.ai/"),
    Row(".tabnine/", "https://docs.tabnine.com/"),
    Row(".qoder/", "https://docs.qoder.com/"),
    Row(".lingma/", "https://help.aliyun.com/zh/lingma/"),
    Row(".codebuddy/", "https://www.codebuddy.ai/docs/"),
    Row(".iflow/", "https://platform.iflow.cn/"),
    Row(".kimi/", "https://moonshotai.github.io/kimi-cli/"),
    Row(".vibe/", "https://github.com/mistralai/mistral-vibe"),
    Row(".grok/", "https://github.com/superagent-ai/grok-cli"),
    Row(".pi/", "https://github.com/badlogic/pi-mono"),
    Row(".warp/", "https://docs.warp.dev/"),
    Row("gptme.toml", "https://gptme.org/docs/config.html"),
    // What people forbid agents, which must not be taken away (see `agent_file`)
    Row(".aiexclude", "https://cloud.google.com/gemini/docs/codeassist/create-aiexclude-file"),
    Row(".aiignore", "https://www.jetbrains.com/help/ai-assistant/disable-ai-assistant.html"),
    Row(".cursorignore .cursorindexingignore", "https://cursor.com/docs/context/ignore-files"),
    Row(".geminiignore", "https://geminicli.com/docs/cli/gemini-ignore/"),
    Row(".codeiumignore", "https://docs.windsurf.com/context-awareness/windsurf-ignore"),
    Row(".rooignore", "https://docs.roocode.com/features/rooignore"),
    Row(".clineignore", "https://docs.cline.bot/"),
    Row(".kilocodeignore", "https://kilo.ai/docs/"),
    Row(".aiderignore", "https://aider.chat/docs/config/options.html"),
    Row(".augmentignore", "https://docs.augmentcode.com/"),
    Row(".continueignore", "https://docs.continue.dev/reference"),
    Row(".gooseignore", "https://block.github.io/goose/docs/guides/using-gooseignore"),
    Row(".qwenignore", "https://qwenlm.github.io/qwen-code-docs/"),
    Row(".kiroignore", "https://kiro.dev/docs/"),
    Row(".crushignore", "https://github.com/charmbracelet/crush"),
    // Shells, terminals and the session
    Row(".envrc", "https://direnv.net/"),
    Row(".direnvrc", "https://direnv.net/man/direnv.1.html"),
    Row(".direnv/", "https://direnv.net/man/direnv-stdlib.1.html"),
    Row(".config/direnv/", "https://direnv.net/man/direnv.toml.1.html"),
    Row(".autoenv", "https://github.com/hyperupcall/autoenv"),
    Row(".profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases", "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(".zshrc .zshenv .zprofile .zlogin .zlogout .config/zsh/", "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(".oh-my-zsh/", "https://github.com/ohmyzsh/ohmyzsh/wiki/Customization"),
    Row(".kshrc", "https://man.openbsd.org/ksh"),
    Row(".cshrc .tcshrc .login .logout", "https://www.tcsh.org/"),
    Row(".config/fish/ fish/config.fish fish/conf.d/", "https://fishshell.com/docs/current/language.html"),
    Row(".config/nushell/", "https://www.nushell.sh/book/configuration.html"),
    Row(".config/powershell/ *powershell_profile*.ps1", "https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles"),
    Row(".inputrc", "https://www.gnu.org/software/bash/manual/html_node/Readline-Init-File.html"),
    Row(".xprofile", "https://wiki.archlinux.org/title/Xprofile"),
    Row(".xinitrc", "https://wiki.archlinux.org/title/Xinit"),
    Row(".xsession .xsessionrc", "https://manpages.debian.org/Xsession"),
    Row(".tmux.conf", "https://man.openbsd.org/tmux"),
    Row(".tmux/", "https://github.com/tmux-plugins/tpm"),
    Row(".config/tmux/", "https://man.openbsd.org/tmux"),
    Row(".screenrc", "https://www.gnu.org/software/screen/manual/screen.html"),
    Row(".wezterm.lua .config/wezterm/", "https://wezterm.org/config/files.html"),
    Row(".config/kitty/", "https://sw.kovidgoyal.net/kitty/conf/"),
    Row(".config/starship.toml", "https://starship.rs/config/"),
    Row(".hammerspoon/", "https://www.hammerspoon.org/go/"),
    Row(".config/i3/", "https://i3wm.org/docs/userguide.html"),
    Row(".config/sway/", "https://man.archlinux.org/man/sway.5"),
    Row(".config/hypr/", "https://wiki.hypr.land/Configuring/"),
    Row(".config/autostart/", "https://specifications.freedesktop.org/autostart-spec/latest/"),
    Row(".config/systemd/", "https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html"),
    Row(".config/environment.d/", "https://www.freedesktop.org/software/systemd/man/latest/environment.d.html"),
    Row(".pam_environment", "https://manpages.debian.org/pam_env.conf"),
    Row("launchagents/ launchdaemons/", "https://developer.apple.com/library/archive/documentation/MacOSX/Conceptual/BPSystemStartup/Chapters/CreatingLaunchdJobs.html"),
    Row("authorized_keys", "https://man.openbsd.org/sshd#AUTHORIZED_KEYS_FILE_FORMAT"),
    Row(".forward", "https://www.postfix.org/aliases.5.html"),
    Row(".procmailrc", "https://manpages.debian.org/procmailrc"),
    Row(".curlrc", "https://curl.se/docs/manpage.html"),
    Row(".wgetrc", "https://www.gnu.org/software/wget/manual/html_node/Wgetrc-Location.html"),
    // Package managers, build tools and interpreters: what they read before anything of the project
    Row(".npmrc", "https://docs.npmjs.com/cli/configuring-npm/npmrc"),
    Row(".yarnrc", "https://classic.yarnpkg.com/docs/yarnrc/"),
    Row(".yarnrc.yml .yarn/releases/", "https://yarnpkg.com/configuration/yarnrc"),
    Row(".yarn/plugins/", "https://yarnpkg.com/features/extensibility"),
    Row(".yarn/sdks/", "https://yarnpkg.com/getting-started/editor-sdks"),
    Row(".pnp.cjs .pnp.js .pnp.loader.mjs", "https://yarnpkg.com/features/pnp"),
    Row(".pnpmfile.cjs .pnpmfile.mjs", "https://pnpm.io/pnpmfile"),
    Row(".mvn/", "https://maven.apache.org/configure.html"),
    Row(".sbtopts .jvmopts", "https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html"),
    Row(".gradle/init.gradle .gradle/init.gradle.kts .gradle/init.d/", "https://docs.gradle.org/current/userguide/init_scripts.html"),
    Row(".bazelrc user.bazelrc", "https://bazel.build/run/bazelrc"),
    Row(".bazeliskrc", "https://github.com/bazelbuild/bazelisk"),
    Row(".cargo/config .cargo/config.toml", "https://doc.rust-lang.org/cargo/reference/config.html"),
    Row(".bundle/config", "https://bundler.io/man/bundle-config.1.html"),
    Row("mise.toml .mise.toml mise.local.toml .mise.local.toml mise/config.toml .mise/ .config/mise.toml .config/mise/ .rtx.toml", "https://mise.jdx.dev/configuration.html"),
    Row("/sitecustomize.py /usercustomize.py /*.pth site-packages/sitecustomize.py site-packages/usercustomize.py site-packages/**/*.pth", "https://docs.python.org/3/library/site.html"),
    Row(".pythonrc .pythonrc.py .pythonstartup", "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONSTARTUP"),
    Row(".pdbrc", "https://docs.python.org/3/library/pdb.html"),
    Row(".pdbrc.py", "https://github.com/pdbpp/pdbpp"),
    Row(".ipython/", "https://ipython.readthedocs.io/en/stable/config/intro.html"),
    Row(".jupyter/", "https://docs.jupyter.org/en/latest/use/config.html"),
    Row(".irbrc", "https://docs.ruby-lang.org/en/master/IRB.html"),
    Row(".pryrc", "https://github.com/pry/pry/wiki/Customization-and-configuration"),
    Row(".rdbgrc .rdbgrc.rb", "https://github.com/ruby/debug"),
    Row(".byebugrc", "https://github.com/deivid-rodriguez/byebug"),
    Row(".rprofile .renviron", "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html"),
    Row(".ghci", "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html"),
    Row(".ocamlinit", "https://ocaml.org/manual/toplevel.html"),
    Row(".iex.exs", "https://hexdocs.pm/iex/IEx.html"),
    Row(".julia/config/startup.jl", "https://docs.julialang.org/en/v1/manual/command-line-interface/"),
    Row(".perldb", "https://perldoc.perl.org/perldebug"),
    Row(".sqliterc", "https://sqlite.org/cli.html"),
    Row(".psqlrc", "https://www.postgresql.org/docs/current/app-psql.html"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::{Policy, PolicyRules, Verdict};

    fn protected(policy: &Policy, path: &str) -> bool {
        policy.write(Path::new(path), false) != Verdict::Allowed
    }

    #[test]
    fn each_row_refuses_its_files_in_any_spelling_at_any_depth() {
        let policy = Policy::new(&PolicyRules::default());
        for rule in rules() {
            for path in rule.examples() {
                let mut spellings = vec![
                    path.clone(),
                    path.to_uppercase(),
                    format!("{path}."),
                    format!("{path} "),
                    format!("{path}::$DATA"),
                ];
                if !rule.written.starts_with('/') {
                    spellings.extend([format!("a/{path}"), format!("a/b/{path}")]);
                }
                if rule.covers_directory() {
                    spellings.extend([
                        format!("{path}/x"),
                        format!("a/{path}/x/y"),
                        format!("{}/x", path.to_uppercase()),
                    ]);
                }
                for spelling in spellings {
                    assert!(protected(&policy, &spelling), "{rule}: {spelling:?}");
                }
            }
        }
    }

    #[test]
    fn each_row_has_a_source() {
        for Row(rules, source) in RUN_LATER {
            assert!(source.starts_with("https://") && source.len() > 12, "{rules}: {source:?}");
        }
    }

    #[test]
    fn each_row_is_lower_case_and_unique() {
        let mut shown = std::collections::HashSet::new();
        for rule in rules() {
            let text = rule.written;
            assert_eq!(text, text.to_lowercase(), "names are compared in lower case");
            assert!(shown.insert(text), "{text} is there twice");
        }
    }

    #[test]
    fn files_edited_every_day_are_writable() {
        let policy = Policy::new(&PolicyRules::default());
        for path in [
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            "sub/AGENTS.md",
            "CLAUDE.local.md",
            ".github/workflows/ci.yml",
            ".github/copilot-instructions.md",
            ".github/dependabot.yml",
            ".gitlab-ci.yml",
            ".pre-commit-config.yaml",
            "Makefile",
            "package.json",
            "conftest.py",
            "pyproject.toml",
            "setup.py",
            "build.gradle",
            "gradlew",
            "gradle/wrapper/gradle-wrapper.properties",
            "Cargo.toml",
            "build.rs",
            ".gitignore",
            ".gitattributes",
            ".editorconfig",
            ".prettierrc.js",
            ".eslintrc.js",
            ".tool-versions",
            ".nvmrc",
            ".dockerignore",
            "Dockerfile",
            ".devcontainer/Dockerfile",
            ".devcontainer/setup.sh",
            "docs/agents/notes.md",
            "src/claude/settings.json",
            "kiro/hooks/x",
            "config/git/config",
            "config/nvim/init.lua",
            ".config/app/settings.toml",
            ".vscode/notes.md",
            ".yarn/cache/x.zip",
            ".yarn/patches/x.patch",
            "model.pth/readme",
            "weights/model.pth",
            "site-packages/x.py",
            "src/mcp.json",
            "docs/mcp.md",
            ".env.example",
            ".github/hooks.md",
            ".github/PULL_REQUEST_TEMPLATE.md",
        ] {
            assert!(!protected(&policy, path), "{path}");
        }
    }
}
