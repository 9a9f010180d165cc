//! The default list of files that run later: some program runs or obeys them without asking, so no call writes them.
//!
//! A new name is one row, with the page that says so. What one edits every day stays out, though something runs it:
//! workflows, a `Makefile`, `package.json`, `conftest.py` (README, "What is denied by default").

use super::Rule;

/// A rule, and where it comes from: the vendor's documentation, or an advisory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row(pub(super) Rule, #[cfg_attr(not(test), expect(dead_code, reason = "for people"))] &'static str);

/// The rules of the list.
pub(super) fn rules() -> impl Iterator<Item = Rule> {
    RUN_LATER.iter().map(|Row(rule, _)| *rule)
}

/// Whether a directory may have the name of a rule: none called `head` is what git begins a repository with
/// (`is_git_directory` in its `setup.c` wants a file or a link), and commands and parts of pages are called so.
pub(super) fn is_harmless_directory(rule: Rule) -> bool {
    rule == HEAD
}

const HEAD: Rule = Rule::Name("head");

/// See the module.
#[rustfmt::skip]
const RUN_LATER: &[Row] = &[
    // Version control: hooks, filters, fsmonitor, aliases. `git~1` is its short name on Windows, with another
    // number where that one was taken.
    Row(Rule::Tree(".git"), "https://git-scm.com/docs/gitrepository-layout"),
    Row(Rule::Tree("git~1"), "https://nvd.nist.gov/vuln/detail/CVE-2019-1353"),
    Row(Rule::Tree("git~2"), "https://nvd.nist.gov/vuln/detail/CVE-2019-1353"),
    Row(Rule::Tree("git~3"), "https://nvd.nist.gov/vuln/detail/CVE-2019-1353"),
    Row(Rule::Tree("git~4"), "https://nvd.nist.gov/vuln/detail/CVE-2019-1353"),
    // What a repository has and nothing else: with it, a folder with `objects` and `refs` becomes one. A repository
    // that is there already is known by its content (see `repository`).
    Row(HEAD, "https://git-scm.com/docs/gitrepository-layout"),
    Row(Rule::Name(".gitmodules"), "https://git-scm.com/docs/gitmodules"),
    Row(Rule::Name(".gitconfig"), "https://git-scm.com/docs/git-config"),
    Row(Rule::Tree(".config/git"), "https://git-scm.com/docs/git-config"),
    Row(Rule::Tree(".githooks"), "https://git-scm.com/docs/githooks"),
    Row(Rule::Tree(".git-hooks"), "https://git-scm.com/docs/githooks"),
    Row(Rule::Tree(".husky"), "https://typicode.github.io/husky/"),
    Row(Rule::Tree(".hg"), "https://www.mercurial-scm.org/doc/hgrc.5.html"),
    Row(Rule::Name(".hgrc"), "https://www.mercurial-scm.org/doc/hgrc.5.html"),
    Row(Rule::Tree(".svn"), "https://svnbook.red-bean.com/en/1.7/svn.advanced.confarea.html"),
    Row(Rule::Tree(".bzr"), "https://www.breezy-vcs.org/"),
    Row(Rule::Tree(".jj"), "https://jj-vcs.github.io/jj/latest/config/"),
    // Editors and debuggers: tasks, settings that name programs, scripts read at start
    Row(Rule::Tail(".vscode/tasks.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tail(".vscode/settings.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tail(".vscode/launch.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tail(".vscode/mcp.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tail(".vscode/extensions.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tail(".vscode/c_cpp_properties.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tail(".vscode/cmake-kits.json"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Suffix(".code-workspace"), "https://code.visualstudio.com/docs/editor/workspace-trust"),
    Row(Rule::Tree(".idea"), "https://www.jetbrains.com/help/idea/project-security.html"),
    Row(Rule::Suffix(".run.xml"), "https://www.jetbrains.com/help/idea/run-debug-configuration.html"),
    Row(Rule::Name(".ideavimrc"), "https://github.com/JetBrains/ideavim"),
    Row(Rule::Tree(".vs"), "https://learn.microsoft.com/visualstudio/ide/customize-build-and-debug-tasks-in-visual-studio"),
    Row(Rule::Tree(".fleet"), "https://www.jetbrains.com/help/fleet/run-configurations.html"),
    Row(Rule::Tree(".zed"), "https://zed.dev/docs/tasks"),
    Row(Rule::Tree(".theia"), "https://theia-ide.org/docs/"),
    Row(Rule::Tree(".nova"), "https://docs.nova.app/"),
    Row(Rule::Suffix(".sublime-project"), "https://www.sublimetext.com/docs/projects.html"),
    Row(Rule::Tree(".externaltoolbuilders"), "https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.user/concepts/concepts-exttools.htm"),
    Row(Rule::Tree(".helix"), "https://docs.helix-editor.com/configuration.html"),
    Row(Rule::Tree(".config/helix"), "https://docs.helix-editor.com/configuration.html"),
    Row(Rule::Tree(".vim"), "https://vimhelp.org/starting.txt.html"),
    Row(Rule::Name(".vimrc"), "https://vimhelp.org/starting.txt.html"),
    Row(Rule::Name("_vimrc"), "https://vimhelp.org/starting.txt.html"),
    Row(Rule::Name(".gvimrc"), "https://vimhelp.org/starting.txt.html"),
    Row(Rule::Name(".lvimrc"), "https://github.com/embear/vim-localvimrc"),
    Row(Rule::Name(".exrc"), "https://vimhelp.org/starting.txt.html"),
    Row(Rule::Name("_exrc"), "https://vimhelp.org/starting.txt.html"),
    Row(Rule::Tree(".config/nvim"), "https://neovim.io/doc/user/starting.html"),
    Row(Rule::Name(".nvimrc"), "https://neovim.io/doc/user/options.html"),
    Row(Rule::Name(".nvim.lua"), "https://neovim.io/doc/user/options.html"),
    Row(Rule::Name(".emacs"), "https://www.gnu.org/software/emacs/manual/html_node/emacs/Init-File.html"),
    Row(Rule::Tree(".emacs.d"), "https://www.gnu.org/software/emacs/manual/html_node/emacs/Init-File.html"),
    Row(Rule::Tree(".config/emacs"), "https://www.gnu.org/software/emacs/manual/html_node/emacs/Init-File.html"),
    Row(Rule::Name(".dir-locals.el"), "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html"),
    Row(Rule::Name(".dir-locals-2.el"), "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html"),
    Row(Rule::Name(".nanorc"), "https://www.nano-editor.org/dist/latest/nanorc.5.html"),
    Row(Rule::Name(".gdbinit"), "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Init-File-in-the-Current-Directory.html"),
    Row(Rule::Name(".gdbearlyinit"), "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html"),
    Row(Rule::Prefix(".lldbinit"), "https://lldb.llvm.org/man/lldb.html"),
    Row(Rule::Name("devcontainer.json"), "https://containers.dev/implementors/json_reference/"),
    Row(Rule::Name(".devcontainer.json"), "https://containers.dev/implementors/json_reference/"),
    // Agents: settings, hooks, MCP servers, plugins, commands and rules that are taken up unasked. What people write
    // with an agent every day (`AGENTS.md`, `CLAUDE.md`) is not here.
    Row(Rule::Tree(".claude"), "https://code.claude.com/docs/en/settings"),
    Row(Rule::Name(".claude.json"), "https://code.claude.com/docs/en/settings"),
    Row(Rule::Tree(".claude-plugin"), "https://code.claude.com/docs/en/plugins"),
    Row(Rule::Name("claude_desktop_config.json"), "https://modelcontextprotocol.io/docs/develop/connect-local-servers"),
    Row(Rule::Name(".mcp.json"), "https://code.claude.com/docs/en/mcp"),
    Row(Rule::Top("mcp.json"), "https://modelcontextprotocol.io/docs/develop/connect-local-servers"),
    Row(Rule::Name("mcp-config.json"), "https://docs.github.com/en/copilot/how-tos/copilot-cli"),
    Row(Rule::Name("mcp_config.json"), "https://docs.windsurf.com/windsurf/cascade/mcp"),
    Row(Rule::Name("mcp_settings.json"), "https://docs.roocode.com/features/mcp/using-mcp-in-roo"),
    Row(Rule::Tree(".agents"), "https://developers.openai.com/codex/skills"),
    Row(Rule::Tree(".agent"), "https://antigravity.google/docs/rules-workflows"),
    Row(Rule::Tree(".cursor"), "https://cursor.com/docs/agent/hooks"),
    Row(Rule::Name(".cursorrules"), "https://cursor.com/docs/context/rules"),
    Row(Rule::Tree(".gemini"), "https://geminicli.com/docs/reference/configuration/"),
    Row(Rule::Tree(".codex"), "https://developers.openai.com/codex/config-basic"),
    Row(Rule::Tree(".windsurf"), "https://docs.windsurf.com/windsurf/cascade/hooks"),
    Row(Rule::Name(".windsurfrules"), "https://docs.windsurf.com/windsurf/cascade/memories"),
    Row(Rule::Tree(".codeium"), "https://docs.windsurf.com/windsurf/cascade/mcp"),
    Row(Rule::Tree(".continue"), "https://docs.continue.dev/reference"),
    Row(Rule::Name(".continuerc.json"), "https://docs.continue.dev/reference/json-reference"),
    Row(Rule::Tree(".cline"), "https://docs.cline.bot/"),
    Row(Rule::Tree(".clinerules"), "https://docs.cline.bot/features/hooks/hook-reference"),
    Row(Rule::Tree(".roo"), "https://docs.roocode.com/features/mcp/using-mcp-in-roo"),
    Row(Rule::Name(".roomodes"), "https://docs.roocode.com/features/custom-modes"),
    Row(Rule::Prefix(".roorules"), "https://docs.roocode.com/features/custom-instructions"),
    Row(Rule::Tree(".kilocode"), "https://kilo.ai/docs/automate/mcp/using-in-kilo-code"),
    Row(Rule::Tree(".kilo"), "https://kilo.ai/docs/"),
    Row(Rule::Name("kilo.json"), "https://kilo.ai/docs/"),
    Row(Rule::Name("kilo.jsonc"), "https://kilo.ai/docs/"),
    Row(Rule::Name(".kilocodemodes"), "https://kilo.ai/docs/customize/custom-modes"),
    Row(Rule::Tree(".amazonq"), "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-config-CLI.html"),
    Row(Rule::Tree(".aws/amazonq"), "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-config-CLI.html"),
    Row(Rule::Tree(".kiro"), "https://kiro.dev/docs/hooks/"),
    Row(Rule::Tree(".qwen"), "https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp/"),
    Row(Rule::Tree(".junie"), "https://www.jetbrains.com/help/junie/project-settings.html"),
    Row(Rule::Tree(".trae"), "https://docs.trae.ai/ide/rules"),
    Row(Rule::Tree(".factory"), "https://docs.factory.ai/cli/configuration/settings"),
    Row(Rule::Tree(".opencode"), "https://opencode.ai/docs/plugins/"),
    Row(Rule::Name("opencode.json"), "https://opencode.ai/docs/config/"),
    Row(Rule::Name("opencode.jsonc"), "https://opencode.ai/docs/config/"),
    Row(Rule::Tree(".config/opencode"), "https://opencode.ai/docs/config/"),
    Row(Rule::Tree(".crush"), "https://github.com/charmbracelet/crush"),
    Row(Rule::Name(".crush.json"), "https://github.com/charmbracelet/crush"),
    Row(Rule::Name("crush.json"), "https://github.com/charmbracelet/crush"),
    Row(Rule::Name(".crushrc"), "https://github.com/charmbracelet/crush/tree/main/docs/config"),
    Row(Rule::Name("crushrc"), "https://github.com/charmbracelet/crush/tree/main/docs/config"),
    Row(Rule::Tree(".goose"), "https://block.github.io/goose/docs/guides/config-files"),
    Row(Rule::Tree(".config/goose"), "https://block.github.io/goose/docs/guides/config-files"),
    Row(Rule::Name(".goosehints"), "https://block.github.io/goose/docs/guides/context-engineering/using-goosehints"),
    Row(Rule::Name(".aider.conf.yml"), "https://aider.chat/docs/config/aider_conf.html"),
    Row(Rule::Tree(".openhands"), "https://docs.openhands.dev/openhands/usage/customization/repository"),
    Row(Rule::Tree(".augment"), "https://docs.augmentcode.com/cli/config"),
    Row(Rule::Name(".augment-guidelines"), "https://docs.augmentcode.com/setup-augment/guidelines"),
    Row(Rule::Tree(".amp"), "https://ampcode.com/manual"),
    Row(Rule::Tree(".copilot"), "https://docs.github.com/en/copilot/reference/hooks-reference"),
    Row(Rule::Tree(".github/hooks"), "https://docs.github.com/en/copilot/reference/hooks-reference"),
    Row(Rule::Tree(".github/copilot"), "https://docs.github.com/en/copilot/reference/hooks-reference"),
    Row(Rule::Tail(".github/mcp.json"), "https://docs.github.com/en/copilot/how-tos/copilot-cli"),
    Row(Rule::Tree(".rovodev"), "https://support.atlassian.com/rovo/docs/use-rovo-dev-cli/"),
    Row(Rule::Tree(".zencoder"), "https://docs.zencoder.ai/"),
    Row(Rule::Tree(".tabnine"), "https://docs.tabnine.com/"),
    Row(Rule::Tree(".qoder"), "https://docs.qoder.com/"),
    Row(Rule::Tree(".lingma"), "https://help.aliyun.com/zh/lingma/"),
    Row(Rule::Tree(".codebuddy"), "https://www.codebuddy.ai/docs/"),
    Row(Rule::Tree(".iflow"), "https://platform.iflow.cn/"),
    Row(Rule::Tree(".kimi"), "https://moonshotai.github.io/kimi-cli/"),
    Row(Rule::Tree(".vibe"), "https://github.com/mistralai/mistral-vibe"),
    Row(Rule::Tree(".grok"), "https://github.com/superagent-ai/grok-cli"),
    Row(Rule::Tree(".pi"), "https://github.com/badlogic/pi-mono"),
    Row(Rule::Tree(".warp"), "https://docs.warp.dev/"),
    Row(Rule::Name("gptme.toml"), "https://gptme.org/docs/config.html"),
    // What people forbid agents, which must not be taken away (see `agent_file`)
    Row(Rule::Name(".aiexclude"), "https://cloud.google.com/gemini/docs/codeassist/create-aiexclude-file"),
    Row(Rule::Name(".aiignore"), "https://www.jetbrains.com/help/ai-assistant/disable-ai-assistant.html"),
    Row(Rule::Name(".cursorignore"), "https://cursor.com/docs/context/ignore-files"),
    Row(Rule::Name(".cursorindexingignore"), "https://cursor.com/docs/context/ignore-files"),
    Row(Rule::Name(".geminiignore"), "https://geminicli.com/docs/cli/gemini-ignore/"),
    Row(Rule::Name(".codeiumignore"), "https://docs.windsurf.com/context-awareness/windsurf-ignore"),
    Row(Rule::Name(".rooignore"), "https://docs.roocode.com/features/rooignore"),
    Row(Rule::Name(".clineignore"), "https://docs.cline.bot/"),
    Row(Rule::Name(".kilocodeignore"), "https://kilo.ai/docs/"),
    Row(Rule::Name(".aiderignore"), "https://aider.chat/docs/config/options.html"),
    Row(Rule::Name(".augmentignore"), "https://docs.augmentcode.com/"),
    Row(Rule::Name(".continueignore"), "https://docs.continue.dev/reference"),
    Row(Rule::Name(".gooseignore"), "https://block.github.io/goose/docs/guides/using-gooseignore"),
    Row(Rule::Name(".qwenignore"), "https://qwenlm.github.io/qwen-code-docs/"),
    Row(Rule::Name(".kiroignore"), "https://kiro.dev/docs/"),
    Row(Rule::Name(".crushignore"), "https://github.com/charmbracelet/crush"),
    // Shells, terminals and the session
    Row(Rule::Name(".envrc"), "https://direnv.net/"),
    Row(Rule::Name(".direnvrc"), "https://direnv.net/man/direnv.1.html"),
    Row(Rule::Tree(".direnv"), "https://direnv.net/man/direnv-stdlib.1.html"),
    Row(Rule::Tree(".config/direnv"), "https://direnv.net/man/direnv.toml.1.html"),
    Row(Rule::Name(".autoenv"), "https://github.com/hyperupcall/autoenv"),
    Row(Rule::Name(".profile"), "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(Rule::Name(".bashrc"), "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(Rule::Name(".bash_profile"), "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(Rule::Name(".bash_login"), "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(Rule::Name(".bash_logout"), "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(Rule::Name(".bash_aliases"), "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"),
    Row(Rule::Name(".zshrc"), "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(Rule::Name(".zshenv"), "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(Rule::Name(".zprofile"), "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(Rule::Name(".zlogin"), "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(Rule::Name(".zlogout"), "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(Rule::Tree(".config/zsh"), "https://zsh.sourceforge.io/Doc/Release/Files.html"),
    Row(Rule::Tree(".oh-my-zsh"), "https://github.com/ohmyzsh/ohmyzsh/wiki/Customization"),
    Row(Rule::Name(".kshrc"), "https://man.openbsd.org/ksh"),
    Row(Rule::Name(".cshrc"), "https://www.tcsh.org/"),
    Row(Rule::Name(".tcshrc"), "https://www.tcsh.org/"),
    Row(Rule::Name(".login"), "https://www.tcsh.org/"),
    Row(Rule::Name(".logout"), "https://www.tcsh.org/"),
    Row(Rule::Tree(".config/fish"), "https://fishshell.com/docs/current/language.html"),
    Row(Rule::Tail("fish/config.fish"), "https://fishshell.com/docs/current/language.html"),
    Row(Rule::Tree("fish/conf.d"), "https://fishshell.com/docs/current/language.html"),
    Row(Rule::Tree(".config/nushell"), "https://www.nushell.sh/book/configuration.html"),
    Row(Rule::Tree(".config/powershell"), "https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles"),
    Row(Rule::Within("powershell_profile", ".ps1"), "https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles"),
    Row(Rule::Name(".inputrc"), "https://www.gnu.org/software/bash/manual/html_node/Readline-Init-File.html"),
    Row(Rule::Name(".xprofile"), "https://wiki.archlinux.org/title/Xprofile"),
    Row(Rule::Name(".xinitrc"), "https://wiki.archlinux.org/title/Xinit"),
    Row(Rule::Name(".xsession"), "https://manpages.debian.org/Xsession"),
    Row(Rule::Name(".xsessionrc"), "https://manpages.debian.org/Xsession"),
    Row(Rule::Name(".tmux.conf"), "https://man.openbsd.org/tmux"),
    Row(Rule::Tree(".tmux"), "https://github.com/tmux-plugins/tpm"),
    Row(Rule::Tree(".config/tmux"), "https://man.openbsd.org/tmux"),
    Row(Rule::Name(".screenrc"), "https://www.gnu.org/software/screen/manual/screen.html"),
    Row(Rule::Name(".wezterm.lua"), "https://wezterm.org/config/files.html"),
    Row(Rule::Tree(".config/wezterm"), "https://wezterm.org/config/files.html"),
    Row(Rule::Tree(".config/kitty"), "https://sw.kovidgoyal.net/kitty/conf/"),
    Row(Rule::Tail(".config/starship.toml"), "https://starship.rs/config/"),
    Row(Rule::Tree(".hammerspoon"), "https://www.hammerspoon.org/go/"),
    Row(Rule::Tree(".config/i3"), "https://i3wm.org/docs/userguide.html"),
    Row(Rule::Tree(".config/sway"), "https://man.archlinux.org/man/sway.5"),
    Row(Rule::Tree(".config/hypr"), "https://wiki.hypr.land/Configuring/"),
    Row(Rule::Tree(".config/autostart"), "https://specifications.freedesktop.org/autostart-spec/latest/"),
    Row(Rule::Tree(".config/systemd"), "https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html"),
    Row(Rule::Tree(".config/environment.d"), "https://www.freedesktop.org/software/systemd/man/latest/environment.d.html"),
    Row(Rule::Name(".pam_environment"), "https://manpages.debian.org/pam_env.conf"),
    Row(Rule::Tree("launchagents"), "https://developer.apple.com/library/archive/documentation/MacOSX/Conceptual/BPSystemStartup/Chapters/CreatingLaunchdJobs.html"),
    Row(Rule::Tree("launchdaemons"), "https://developer.apple.com/library/archive/documentation/MacOSX/Conceptual/BPSystemStartup/Chapters/CreatingLaunchdJobs.html"),
    Row(Rule::Name("authorized_keys"), "https://man.openbsd.org/sshd#AUTHORIZED_KEYS_FILE_FORMAT"),
    Row(Rule::Name(".forward"), "https://www.postfix.org/aliases.5.html"),
    Row(Rule::Name(".procmailrc"), "https://manpages.debian.org/procmailrc"),
    Row(Rule::Name(".curlrc"), "https://curl.se/docs/manpage.html"),
    Row(Rule::Name(".wgetrc"), "https://www.gnu.org/software/wget/manual/html_node/Wgetrc-Location.html"),
    // Package managers, build tools and interpreters: what they read before anything of the project
    Row(Rule::Name(".npmrc"), "https://docs.npmjs.com/cli/configuring-npm/npmrc"),
    Row(Rule::Name(".yarnrc"), "https://classic.yarnpkg.com/docs/yarnrc/"),
    Row(Rule::Name(".yarnrc.yml"), "https://yarnpkg.com/configuration/yarnrc"),
    Row(Rule::Tree(".yarn/releases"), "https://yarnpkg.com/configuration/yarnrc"),
    Row(Rule::Tree(".yarn/plugins"), "https://yarnpkg.com/features/extensibility"),
    Row(Rule::Tree(".yarn/sdks"), "https://yarnpkg.com/getting-started/editor-sdks"),
    Row(Rule::Name(".pnp.cjs"), "https://yarnpkg.com/features/pnp"),
    Row(Rule::Name(".pnp.js"), "https://yarnpkg.com/features/pnp"),
    Row(Rule::Name(".pnp.loader.mjs"), "https://yarnpkg.com/features/pnp"),
    Row(Rule::Name(".pnpmfile.cjs"), "https://pnpm.io/pnpmfile"),
    Row(Rule::Name(".pnpmfile.mjs"), "https://pnpm.io/pnpmfile"),
    Row(Rule::Tree(".mvn"), "https://maven.apache.org/configure.html"),
    Row(Rule::Name(".sbtopts"), "https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html"),
    Row(Rule::Name(".jvmopts"), "https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html"),
    Row(Rule::Tail(".gradle/init.gradle"), "https://docs.gradle.org/current/userguide/init_scripts.html"),
    Row(Rule::Tail(".gradle/init.gradle.kts"), "https://docs.gradle.org/current/userguide/init_scripts.html"),
    Row(Rule::Tree(".gradle/init.d"), "https://docs.gradle.org/current/userguide/init_scripts.html"),
    Row(Rule::Name(".bazelrc"), "https://bazel.build/run/bazelrc"),
    Row(Rule::Name("user.bazelrc"), "https://bazel.build/run/bazelrc"),
    Row(Rule::Name(".bazeliskrc"), "https://github.com/bazelbuild/bazelisk"),
    Row(Rule::Tail(".cargo/config"), "https://doc.rust-lang.org/cargo/reference/config.html"),
    Row(Rule::Tail(".cargo/config.toml"), "https://doc.rust-lang.org/cargo/reference/config.html"),
    Row(Rule::Tail(".bundle/config"), "https://bundler.io/man/bundle-config.1.html"),
    Row(Rule::Name("mise.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Name(".mise.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Name("mise.local.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Name(".mise.local.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Tail("mise/config.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Tree(".mise"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Tail(".config/mise.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Tree(".config/mise"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Name(".rtx.toml"), "https://mise.jdx.dev/configuration.html"),
    Row(Rule::Top("sitecustomize.py"), "https://docs.python.org/3/library/site.html"),
    Row(Rule::Top("usercustomize.py"), "https://docs.python.org/3/library/site.html"),
    Row(Rule::TopSuffix(".pth"), "https://docs.python.org/3/library/site.html"),
    Row(Rule::Tail("site-packages/sitecustomize.py"), "https://docs.python.org/3/library/site.html"),
    Row(Rule::Tail("site-packages/usercustomize.py"), "https://docs.python.org/3/library/site.html"),
    Row(Rule::Below("site-packages", ".pth"), "https://docs.python.org/3/library/site.html"),
    Row(Rule::Name(".pythonrc"), "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONSTARTUP"),
    Row(Rule::Name(".pythonrc.py"), "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONSTARTUP"),
    Row(Rule::Name(".pythonstartup"), "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONSTARTUP"),
    Row(Rule::Name(".pdbrc"), "https://docs.python.org/3/library/pdb.html"),
    Row(Rule::Name(".pdbrc.py"), "https://github.com/pdbpp/pdbpp"),
    Row(Rule::Tree(".ipython"), "https://ipython.readthedocs.io/en/stable/config/intro.html"),
    Row(Rule::Tree(".jupyter"), "https://docs.jupyter.org/en/latest/use/config.html"),
    Row(Rule::Name(".irbrc"), "https://docs.ruby-lang.org/en/master/IRB.html"),
    Row(Rule::Name(".pryrc"), "https://github.com/pry/pry/wiki/Customization-and-configuration"),
    Row(Rule::Name(".rdbgrc"), "https://github.com/ruby/debug"),
    Row(Rule::Name(".rdbgrc.rb"), "https://github.com/ruby/debug"),
    Row(Rule::Name(".byebugrc"), "https://github.com/deivid-rodriguez/byebug"),
    Row(Rule::Name(".rprofile"), "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html"),
    Row(Rule::Name(".renviron"), "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html"),
    Row(Rule::Name(".ghci"), "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html"),
    Row(Rule::Name(".ocamlinit"), "https://ocaml.org/manual/toplevel.html"),
    Row(Rule::Name(".iex.exs"), "https://hexdocs.pm/iex/IEx.html"),
    Row(Rule::Tail(".julia/config/startup.jl"), "https://docs.julialang.org/en/v1/manual/command-line-interface/"),
    Row(Rule::Name(".perldb"), "https://perldoc.perl.org/perldebug"),
    Row(Rule::Name(".sqliterc"), "https://sqlite.org/cli.html"),
    Row(Rule::Name(".psqlrc"), "https://www.postgresql.org/docs/current/app-psql.html"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::workspace::policy::{Policy, PolicyRules, Verdict};

    fn protected(policy: &Policy, path: &str) -> bool {
        policy.write(Path::new(path), false) != Verdict::Allowed
    }

    #[test]
    fn each_row_refuses_its_files_in_any_spelling_at_any_depth() {
        let policy = Policy::new(&PolicyRules::default());
        for Row(rule, _) in RUN_LATER {
            for path in rule.examples() {
                let mut spellings = vec![
                    path.clone(),
                    path.to_uppercase(),
                    format!("{path}."),
                    format!("{path} "),
                    format!("{path}::$DATA"),
                ];
                if !matches!(rule, Rule::Top(_) | Rule::TopSuffix(_)) {
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
        for Row(rule, source) in RUN_LATER {
            assert!(source.starts_with("https://") && source.len() > 12, "{rule}: {source:?}");
        }
    }

    #[test]
    fn each_row_is_lower_case_and_unique() {
        let mut shown = std::collections::HashSet::new();
        for Row(rule, _) in RUN_LATER {
            let text = format!("{rule:?}");
            let argument = &text[text.find('(').unwrap_or_default()..];
            assert_eq!(argument, argument.to_lowercase(), "names are compared in lower case");
            assert!(shown.insert(text.clone()), "{text} is there twice");
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
