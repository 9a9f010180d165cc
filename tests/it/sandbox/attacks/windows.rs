//! What only Windows takes for a path: drives, shares, devices, streams, short names, and names in another case. Under
//! Wine, drive Z: is the whole file system of the host.

use serde_json::json;

use super::{Case, DENIED, Expect, case, every_tool};

const REFUSED: Expect = Expect::Fails(&["denied", "invalid_input", "not_found"]);

/// Every tool on one path, those of the manage group among them.
fn all_tools(path: &str, expect: &Expect) -> Vec<Case> {
    let calls = [
        ("delete", json!({ "path": path, "recursive": true })),
        ("mkdir", json!({ "path": path })),
        ("undo", json!({ "path": path })),
        ("move", json!({ "source": path, "destination": "app/taken.txt" })),
        ("copy", json!({ "source": path, "destination": "app/taken.txt" })),
        ("move", json!({ "source": "app/a.txt", "destination": path })),
        ("move", json!({ "source": "app/a.txt", "destination": path, "overwrite": true })),
        ("copy", json!({ "source": "app/a.txt", "destination": path })),
        ("copy", json!({ "source": "app/a.txt", "destination": path, "overwrite": true })),
    ];
    let manage = calls
        .into_iter()
        .map(|(tool, arguments)| case(format!("{path:?}: {tool} {arguments}"), tool, arguments, expect.clone()));
    every_tool(&format!("{path:?}"), path, expect).into_iter().chain(manage).collect()
}

/// Paths to what is outside of the roots. `{host}` is `C:\Users\…` and `{rooted}` the same without the drive.
pub(super) fn out() -> Vec<Case> {
    [
        // Dots with both separators
        r"..\zebra-beside.txt",
        r"..\outside\zebra-secret.txt",
        r"app\..\..\outside\zebra-secret.txt",
        r"app/..\../outside\zebra-secret.txt",
        r"app\sub/..\..\../outside/zebra-secret.txt",
        r"sub\..\..\outside\zebra-secret.txt",
        r"app\no\..\..\..\outside\zebra-secret.txt",
        r"app\a.txt\..\..\..\outside\zebra-secret.txt",
        r".\..\outside\\zebra-secret.txt",
        r"app\.\..\.\..\outside\zebra-secret.txt",
        r"@..\outside\zebra-secret.txt",
        r"..\..\..\..\..\..\..\..\Windows\win.ini",
        r"app\... \..\..\..\outside\zebra-secret.txt",
        // Absolute, in every spelling
        r"{host}\outside\zebra-secret.txt",
        r"{host}/outside\zebra-secret.txt",
        r"{host}\root\..\outside\zebra-secret.txt",
        r"{host}\root-evil\zebra-secret.txt",
        r"{host}\ROOT-EVIL\zebra-secret.txt",
        r"{host}\root \..\outside\zebra-secret.txt",
        r"{host}\root.\..\outside\zebra-secret.txt",
        r"@{host}\outside\zebra-secret.txt",
        r"{rooted}\outside\zebra-secret.txt",
        r"/{rooted}/outside/zebra-secret.txt",
        r"C:{rooted}\outside\zebra-secret.txt",
        r"c:{rooted}\outside\zebra-secret.txt",
        r"C:\Windows\win.ini",
        r"C:/Windows/win.ini",
        r"C:\\Windows\\win.ini",
        r"\Windows\win.ini",
        r"\\Windows\win.ini",
        r"C:\",
        r"C:/",
        r"\",
        r"/",
        r"Z:\etc\passwd",
        r"Z:/etc/passwd",
        r"z:\\etc\passwd",
        r"Z:\",
        // Relative to the current folder of a drive
        r"C:",
        r"C:.",
        r"C:..",
        r"C:..\outside\zebra-secret.txt",
        r"C:outside\zebra-secret.txt",
        r"c:zebra-beside.txt",
        r"Z:etc\passwd",
        r"Z:",
        // Verbatim, devices, the object manager
        r"\\?\{host}\outside\zebra-secret.txt",
        r"\\.\{host}\outside\zebra-secret.txt",
        r"//?/{host}/outside/zebra-secret.txt",
        r"//./{host}/outside/zebra-secret.txt",
        r"\??\{host}\outside\zebra-secret.txt",
        r"\\?\C:\Windows\win.ini",
        r"\\?\C:",
        r"\\?\",
        r"\\?",
        r"\\.\",
        r"\\.\C:",
        r"\\.\C:\Windows\win.ini",
        r"\??\C:\Windows\win.ini",
        r"\\?\Z:\etc\passwd",
        r"\\?\unix\etc\passwd",
        r"\\.\unix\etc\passwd",
        r"\??\unix\etc\passwd",
        r"\\?\UNC\localhost\C$\Windows\win.ini",
        r"\\?\GLOBALROOT\Device\HarddiskVolume1\Windows\win.ini",
        r"\\.\GLOBALROOT\Device\HarddiskVolume1\Windows\win.ini",
        r"\\?\GLOBALROOT\DosDevices\C:\Windows\win.ini",
        r"\Device\HarddiskVolume1\Windows\win.ini",
        r"\GLOBAL??\C:\Windows\win.ini",
        r"\DosDevices\C:\Windows\win.ini",
        r"\\?\Volume{00000000-0000-0000-0000-000000000000}\Windows\win.ini",
        r"\\.\PhysicalDrive0",
        r"\\.\pipe\zebra",
        r"\\.\CON",
        r"\\.\NUL",
        r"\\?\NUL",
        r"\\.\COM1",
        // Shares
        r"\\localhost\C$\Windows\win.ini",
        r"\\127.0.0.1\C$\Windows\win.ini",
        r"//localhost/C$/Windows/win.ini",
        r"\\server\share\zebra",
        r"\\server@SSL\DavWWWRoot\zebra",
        r"\\server",
        r"/\server/share",
        r"\/server/share",
        r"\\\server\share",
        // As other shells write drives
        r"/c/Windows/win.ini",
        r"/mnt/c/Windows/win.ini",
        r"/cygdrive/c/Windows/win.ini",
        r"/C:/Windows/win.ini",
        r"\C:\Windows\win.ini",
        // Home and variables
        r"~\zebra",
        r"~\..\..\Windows\win.ini",
        r"~/AppData/zebra",
        // URIs
        r"file:///C:/Windows/win.ini",
        r"file:///C|/Windows/win.ini",
        r"file:///c%3A/Windows/win.ini",
        r"file:///C:%5CWindows%5Cwin.ini",
        r"file:///%5C%5Clocalhost/C$/Windows/win.ini",
        r"file:////localhost/C$/Windows/win.ini",
        r"file://localhost/C:/Windows/win.ini",
        r"file://localhost/C$/Windows/win.ini",
        r"file://server/share/zebra",
        r"file:///Z:/etc/passwd",
        r"file:///{host}/outside/zebra-secret.txt",
        r"file:///{host}/root/..%5Coutside%5Czebra-secret.txt",
        r"file:///{host}/root%5C..%5C..%5Coutside",
        r"FILE:///C:/Windows/win.ini",
        r"file:\\\C:\Windows\win.ini",
    ]
    .iter()
    .flat_map(|path| all_tools(path, &REFUSED))
    .chain(unusual())
    .collect()
}

/// Names that look like a way out and are plain names: nothing is there to read.
fn unusual() -> Vec<Case> {
    [
        "%APPDATA%\\zebra",
        "%SystemRoot%\\win.ini",
        "$env:APPDATA\\zebra",
        "..\u{ff3c}outside\u{ff3c}zebra-secret.txt",
        "..\u{ff0f}outside\u{ff0f}zebra-secret.txt",
        "\u{ff0e}\u{ff0e}\\outside\\zebra-secret.txt",
        "C\u{ff1a}\\Windows\\win.ini",
        "C\u{a789}\\Windows\\win.ini",
        "app\u{2216}..\u{2216}outside",
        "\u{a5}\u{a5}localhost\u{a5}C$",
        "..\u{2044}outside",
        " C:\\Windows\\win.ini",
        "\tC:\\Windows\\win.ini",
        ".. \\outside\\zebra-secret.txt",
        "...\\outside\\zebra-secret.txt",
        ".\u{200b}.\\outside\\zebra-secret.txt",
        "..%5coutside%5czebra-secret.txt",
        "%2e%2e%5coutside",
        "\\u{5c}..\\u{5c}outside",
        "\u{feff}..\\outside\\zebra-secret.txt",
    ]
    .iter()
    .flat_map(|path| every_tool(&format!("{path:?}"), path, &REFUSED))
    .filter(|case| !matches!(case.tool, "write" | "edit"))
    .collect()
}

/// Names in a root that Windows reads as something else: streams, devices, short names, another name's spelling.
pub(super) fn names() -> Vec<Case> {
    let mut names: Vec<String> = [
        "a.txt::$DATA",
        "a.txt::$data",
        "a.txt:stream",
        "a.txt:stream:$DATA",
        ":stream",
        ":",
        "sub:stream",
        "sub::$INDEX_ALLOCATION",
        "sub::$INDEX_ALLOCATION\\b.txt",
        "sub:$I30:$INDEX_ALLOCATION\\b.txt",
        ".env::$DATA",
        ".ENV::$DATA",
        ".ssh::$INDEX_ALLOCATION\\config",
        ".git::$INDEX_ALLOCATION\\config",
        ".git:$I30:$INDEX_ALLOCATION\\hooks\\pre-commit",
        "..::$INDEX_ALLOCATION\\outside\\zebra-secret.txt",
        "...",
        "a.txt.",
        "a.txt ",
        "a.txt. .",
        "a.txt . ",
        "sub.\\b.txt",
        "sub \\b.txt",
        ".env.",
        ".env ",
        ".env .",
        ".git.\\config",
        ".git \\config",
        "con",
        "CON",
        "CON.txt",
        "con .txt",
        "nul",
        "nul.txt",
        "NUL.tar.gz",
        "NUL:",
        "aux.c",
        "prn",
        "COM1",
        "com9.log",
        "COM¹",
        "com².txt",
        "LPT³",
        "lpt1",
        "COM0",
        "CONIN$",
        "conout$",
        "sub\\con\\x.txt",
        "con\\..\\a.txt:x",
        "PROGRA~1",
        "ID_RSA~1",
        "ENV~1",
        "GIT~1\\config",
        "SSH~1\\config",
        "A~1.TXT",
        "LONG-L~1.TXT",
        "a|b",
        "a<b",
        "a>b",
        "a\"b",
        "a?b",
        "a*b",
        "a.tx?",
        "\u{1}b",
        "a\nb",
        "C:",
        "C:\\x",
        "C:x",
        "x\\C:\\Windows\\win.ini",
    ]
    .map(str::to_owned)
    .into();
    names.push("n".repeat(256));
    names.push("\u{65e5}".repeat(256));
    names.push(format!("sub\\{}", "x".repeat(300)));
    names.iter().flat_map(|name| all_tools(&format!("app\\{name}"), &REFUSED)).collect()
}

/// The same file by another case of its name, which no list of names may miss.
pub(super) fn other_case() -> Vec<Case> {
    let secrets = [
        ".ENV",
        ".Env",
        "ID_RSA",
        "Id_Rsa",
        "KEYS\\server.pem",
        "keys\\SERVER.PEM",
        ".SSH\\config",
        "AGENT_SECRET\\x",
        "Agent_Secret\\DEEP\\y",
        "A.AGENT",
        "sub\\B.Agent",
        "VAULT\\any",
        "\u{17f}ub\\..\\.env",
    ]
    .iter()
    .flat_map(|path| every_tool(&format!("secret {path}"), &format!("app\\{path}"), &DENIED))
    .filter(|case| !matches!(case.tool, "ls" | "glob" | "grep"));
    let kept = [
        ".GIT\\config",
        ".Git\\HOOKS\\pre-commit",
        ".git\\Hooks\\new",
        ".VSCODE\\tasks.json",
        ".vscode\\TASKS.JSON",
        ".MCP.JSON",
        ".Claude\\Settings.json",
        ".CLAUDE\\settings.local.json",
        "AGENT_KEPT\\x",
        ".CursorIgnore",
    ]
    .iter()
    .flat_map(|path| every_tool(&format!("protected {path}"), &format!("app\\{path}"), &DENIED))
    .filter(|case| matches!(case.tool, "write" | "edit"));
    let search = case(
        "grep everywhere",
        "grep",
        json!({ "pattern": "SECRET-of", "path": "app", "no_ignore": true }),
        Expect::Without(":1:"),
    );
    let read_only = ["lib\\shared.txt", "lib\\NEW.txt", "{host}\\lib\\shared.txt", "{host}\\LIB\\SHARED.TXT"]
        .iter()
        .flat_map(|path| every_tool(&format!("read-only {path}"), path, &Expect::Fails(&["read_only", "denied"])))
        .filter(|case| matches!(case.tool, "write" | "edit"));
    secrets.chain(kept).chain(read_only).chain([search]).collect()
}

/// Patterns with Windows paths in them.
pub(super) fn patterns() -> Vec<Case> {
    [
        r"..\*",
        r"..\outside\*",
        r"..\**\zebra*",
        r"sub\..\..\outside\*",
        r"**\..\..\outside\*",
        r"{..,.}\outside\*",
        r"{..\outside,sub}\*",
        r"[.][.]\outside\*",
        r"C:\*",
        r"C:*",
        r"c:\Windows\*.ini",
        r"Z:\etc\*",
        r"{host}\outside\*",
        r"{rooted}\outside\*",
        r"\\?\C:\*",
        r"\\localhost\C$\*",
        r"\\.\*",
        r"\*",
        r"~\*",
        r"%SystemRoot%\*",
        r"*:*",
        r"**\*::$DATA",
        r"!..\outside\*",
        r"**\zebra-*",
    ]
    .iter()
    .flat_map(|pattern| {
        [
            ("glob", json!({ "pattern": pattern, "no_ignore": true, "include_dirs": true })),
            ("glob", json!({ "pattern": pattern, "path": "app\\sub", "no_ignore": true })),
            ("grep", json!({ "pattern": "CANARY|SECRET-of|for 16-bit", "glob": pattern, "no_ignore": true })),
        ]
        .map(|(tool, arguments)| case(format!("{tool} {arguments}"), tool, arguments, Expect::Harmless))
    })
    .collect()
}
