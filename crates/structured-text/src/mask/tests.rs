//! What each format shows of a file, and what comes back of it.

use proptest::prelude::*;

use super::*;

/// The shown text, or "denied".
fn shown(format: MaskFormat, text: &str) -> String {
    MaskedText::of(format, text.as_bytes())
        .map_or_else(|| "denied".to_owned(), |masked| String::from_utf8(masked.into_bytes()).unwrap())
}

#[test]
fn dotenv_shows_names_and_no_values() {
    for (text, masked) in [
        ("A=1\n", "A=<secret:A>\n"),
        ("export A_B=\"x y\" # note\n", "export A_B=<secret:A_B>\n"),
        ("A=\nB=''\n", "A=\nB=<secret:B>\n"),
        ("A=1\nA=2\n", "A=<secret:A>\nA=<secret:A.2>\n"),
        ("# OLD_KEY=abc\n# a prose comment\n#\n", "# OLD_KEY=<secret:OLD_KEY>\n# <secret:comment>\n#\n"),
        ("# dGhpcw==\n", "# <secret:comment>\n"),
        ("A=\"one\ntwo=2\nB=3\"\nC=4\n", "A=<secret:A>\nC=<secret:C>\n"),
        ("A='one\r\ntwo=2'\r\nC=4\r\n", "A=<secret:A>\r\nC=<secret:C>\r\n"),
        ("A=\"x\\\"\ny=1\"\nC=4\n", "A=<secret:A>\nC=<secret:C>\n"),
        ("A=\"never closed\nB=1\n", "denied"),
        ("A=<<END\nB=1\n", "denied"),
        ("A=-----BEGIN KEY-----\nB=1\n", "denied"),
        ("A=it's\nB='1'\n", "A=<secret:A>\nB=<secret:B>\n"),
        ("A==x\nB=a=\\\nC=#\n", "A=<secret:A>\nB=<secret:B>\nC=<secret:C>\n"),
        ("A=$'one\ntwo=2'\nC=4\n", "A=<secret:A>\nC=<secret:C>\n"),
        ("A=one\\\n-D two=2\nC=4\n", "A=<secret:A>\n<secret:line>\nC=<secret:C>\n"),
        ("A=<<END\nB=1\nEND\nC=4\n", "A=<secret:A>\nC=<secret:C>\n"),
        ("K=-----BEGIN KEY-----\nabc==\n-----END KEY-----\nC=4\n", "K=<secret:K>\nC=<secret:C>\n"),
        ("K=abc\nhunter2\nabcd==\nC=4\n", "K=<secret:K>\n<secret:line>\nC=<secret:C>\n"),
        ("A: =\nB: ==\nC: a=\nD:\t\n", "<secret:line>\nC: <secret:C>\nD:\t\n"),
        ("K=abc\nhunter2\nqq=\n\nqq=\n", "K=<secret:K>\n<secret:line>\n\nqq=\n"),
        ("hunter2\n\nA: b\n", "<secret:line>\n\nA: <secret:A>\n"),
        ("postgres://u:p@h/d\n", "<secret:line>\n"),
        ("{\n \"a\": \"b\"\n}\n", "<secret:line>\n"),
        ("  A = 1  \n", "  A = <secret:A>\n"),
        ("A=1", "A=<secret:A>"),
        ("\u{feff}A=é\n", "\u{feff}A=<secret:A>\n"),
        ("A=<secret:B>\n", "A=<secret:A>\n"),
        ("", ""),
    ] {
        assert_eq!(shown(MaskFormat::Dotenv, text), masked, "{text:?}");
    }
}

#[test]
fn ini_shows_sections_and_names() {
    for (text, masked) in [
        (
            "[default]\naws_access_key_id = AKIA\n; old = x\n[a b]\nk: v\n",
            "[default]\naws_access_key_id = <secret:aws_access_key_id>\n; <secret:comment>\n[a b]\nk: <secret:k>\n",
        ),
        ("[a]\nk = one\n  two = 2\n\n  three\nl = 4\n", "[a]\nk = <secret:k>\n\n  <secret:k.2>\nl = <secret:l>\n"),
        ("[a]\nk =\n  two = 2\nl = 4\n", "[a]\nk =\n  <secret:k>\nl = <secret:l>\n"),
        (
            "//registry.npmjs.org/:_authToken=npm_x\nemail=a@b\n",
            "//registry.npmjs.org/:_authToken=<secret:__registry.npmjs.org___authToken>\nemail=<secret:email>\n",
        ),
        ("//user:pass@host/:_authToken=x\n", "<secret:line>\n"),
        ("[client]\nno-beep\npassword=\"x\"\n", "[client]\n<secret:line>\npassword=<secret:password>\n"),
        ("no-beep\n  a = b\nk = v\n", "<secret:line>\nk = <secret:k>\n"),
    ] {
        assert_eq!(shown(MaskFormat::Ini, text), masked, "{text:?}");
    }
}

#[test]
fn json_stays_json() {
    for (text, masked) in [
        (
            r#"{"a": "x", "b": [1, true, {"c": null}], "a": -2.5e3}"#,
            r#"{"a": "<secret:a>", "b": ["<secret:b>", "<secret:b.2>", {"c": "<secret:c>"}], "a": "<secret:a.2>"}"#,
        ),
        ("{}\n", "{}\n"),
        (r#""x\"y""#, r#""<secret:value>""#),
        ("", ""),
    ] {
        assert_eq!(shown(MaskFormat::Json, text), masked, "{text:?}");
    }
    for text in ["{\"a\": 1,}", "{\"a\": 1} x", "// c\n{}", "{\"a\": hunter2}", "{\"a\": \"x", "{\"<secret:a>\": 1}"] {
        assert_eq!(shown(MaskFormat::Json, text), "denied", "{text:?}");
    }
    assert_eq!(shown(MaskFormat::Json, &("[".repeat(100_000) + &"]".repeat(100_000))), "denied");
}

#[test]
fn yaml_shows_block_keys() {
    for (text, masked) in [
        (
            "apiVersion: v1\nusers:\n- name: admin\n  user:\n    token: abc # note\npreferences: {}\n",
            "apiVersion: <secret:apiVersion>\nusers:\n- name: <secret:name>\n  user:\n    token: <secret:token>\n\
             preferences: {}\n",
        ),
        ("a: |\n  one: 1\n\n  two\nb: 2\n", "a: <secret:a>\nb: <secret:b>\n"),
        ("a: one\n  two: 2\nb: 2\n", "a: <secret:a>\nb: <secret:b>\n"),
        ("a: \"one\n  two: 2\" # c\nb: 'it''s'\n", "a: \"<secret:a>\" # <secret:comment>\nb: <secret:b>\n"),
        ("a: {x: y,\n  z: w}\n- b\n", "a: <secret:a>\n- <secret:a.2>\n"),
        ("a:\n  hunter2\n  b: c\nd: 1\n", "a:\n  <secret:a>\nd: <secret:d>\n"),
        ("# c\n---\n:key: v\n", "# <secret:comment>\n---\n:key: <secret:_key>\n"),
        ("{\"a\": 1}\n", "{\"a\": \"<secret:a>\"}\n"),
        ("hunter2\n", "denied"),
        ("a: &x b\n", "denied"),
        ("a: !t b\n", "denied"),
        ("? a\n: b\n", "denied"),
        ("a:\n\tb: c\n", "denied"),
        ("a: \"open\n", "denied"),
        ("a: 'x' y\n", "denied"),
    ] {
        assert_eq!(shown(MaskFormat::Yaml, text), masked, "{text:?}");
    }
}

#[test]
fn toml_shows_tables_and_keys() {
    for (text, masked) in [
        (
            "[registry]\ntoken = \"abc\" # c\n[[a.\"b\"]]\nx.y = 1979-05-27 07:32:00 # d\n",
            "[registry]\ntoken = \"<secret:token>\" # <secret:comment>\n[[a.\"b\"]]\nx.y = \"<secret:y>\" # <secret:comment.2>\n",
        ),
        ("a = \"\"\"\nb = 1\n\"\"\"\"\nc = '''x'''\n", "a = \"<secret:a>\"\nc = \"<secret:c>\"\n"),
        ("a = [1, # ]\n 2]\nb = { c = \"}\" }\n", "a = \"<secret:a>\"\nb = \"<secret:b>\"\n"),
        ("a = \"x\ny = 1\"\n", "denied"),
        ("hunter2\n", "denied"),
        ("a = 1 = 2 # x\n", "a = \"<secret:a>\" # <secret:comment>\n"),
        ("a = \"b\" c\n", "denied"),
    ] {
        assert_eq!(shown(MaskFormat::Toml, text), masked, "{text:?}");
    }
}

#[test]
fn other_formats_show_what_an_entry_is_for() {
    for (format, text, masked) in [
        (
            MaskFormat::Netrc,
            "machine h.example login bob password \"a b\"\ndefault login x password y\n# c\n",
            "machine h.example login <secret:login> password <secret:password>\n\
             default login <secret:login.2> password <secret:password.2>\n# <secret:comment>\n",
        ),
        (
            MaskFormat::Netrc,
            "machine h=x login b\"b password a\\\nmachine g\n",
            "machine <secret:word> login <secret:login> password <secret:password>\nmachine g\n",
        ),
        (MaskFormat::Netrc, "machine h login \"bob\n", "denied"),
        (
            MaskFormat::Netrc,
            "machine h macdef init\nput x\n\nmachine g\n",
            "machine h macdef <secret:macdef>\n\nmachine g\n",
        ),
        (
            MaskFormat::Pgpass,
            "# c\nlocalhost:5432:*:me:p\\:w\na:b\nh:1:d:me:p:w\n",
            "# <secret:comment>\nlocalhost:5432:*:<secret:user>:<secret:password>\n<secret:line>\n\
             h:1:d:<secret:user.2>:<secret:password.2>\n",
        ),
        (MaskFormat::Htpasswd, "bob:$apr1$x:y\nnothing\n", "bob:<secret:password>\n<secret:line>\n"),
        (MaskFormat::Whole, "hvs.abc\n", "<secret:content>\n"),
    ] {
        assert_eq!(shown(format, text), masked, "{text:?}");
    }
}

#[test]
fn what_is_not_surely_text_is_not_masked() {
    for bytes in [&b"A=1\0"[..], b"\x7fELF\0\0", b"\xff\xfeA\0=\0\x31"] {
        assert!(MaskedText::of(MaskFormat::Dotenv, bytes).is_none(), "{bytes:?}");
    }
    assert!(MaskedText::of(MaskFormat::Json, b"{\"a\": \"\xff\"}").is_none());
    let utf16: Vec<u8> = "\u{feff}A=é\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let masked = MaskedText::of(MaskFormat::Dotenv, &utf16).unwrap();
    let expected: Vec<u8> = "\u{feff}A=<secret:A>\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(masked.bytes(), expected);
    assert!(masked.restore(&expected).unwrap().real == utf16);
    let latin = MaskedText::of(MaskFormat::Dotenv, b"A=caf\xe9\nB=\xff\xfe\n").unwrap();
    assert_eq!(latin.bytes(), b"A=<secret:A>\nB=<secret:B>\n");
    assert_eq!(latin.restore(b"B=<secret:B>\nC=<secret:A>\n").unwrap().real, b"B=\xff\xfe\nC=caf\xe9\n");
}

#[test]
fn a_sentinel_is_put_back_where_it_is_a_whole_value() {
    let masked = MaskedText::of(MaskFormat::Dotenv, b"A=\"x y\"\nB=2\n").unwrap();
    let restored = |text: &str| masked.restore(text.as_bytes()).map(|found| String::from_utf8(found.real).unwrap());
    assert_eq!(restored("B=<secret:B>\nNEW=1\nA=<secret:A>\n").unwrap(), "B=2\nNEW=1\nA=\"x y\"\n");
    assert_eq!(restored("A=\"<secret:A>\"\nC='<secret:B>'\n").unwrap(), "A=\"x y\"\nC=2\n");
    for (text, error) in [
        ("A=<secret:C>\n", RestoreError::Unknown("C".into())),
        ("A=<secret:A\n", RestoreError::Unknown("A".into())),
        ("A=<SECRET:A>\n", RestoreError::Unknown("A".into())),
        ("A=x<secret:A>\n", RestoreError::Misplaced("A".into())),
        ("A=<secret:A> # note\n", RestoreError::Misplaced("A".into())),
        ("# A=<secret:A>\n", RestoreError::Misplaced("A".into())),
        ("# <secret:A>\n", RestoreError::Misplaced("A".into())),
        ("<secret:A>\n", RestoreError::Misplaced("A".into())),
        ("<secret:A>=1\n", RestoreError::Misplaced("A".into())),
        ("A_<secret:B>=1\n", RestoreError::Misplaced("B".into())),
        ("X=\"\nA=<secret:A>\nB=\"\n", RestoreError::Misplaced("A".into())),
        ("A=<secret:A>\nX=\"\n", RestoreError::Unmaskable),
    ] {
        assert_eq!(restored(text), Err(error), "{text:?}");
    }
    let masked = MaskedText::of(MaskFormat::Yaml, b"a:\n  b: \"x\" # c\n  d: y\n").unwrap();
    let yaml = |text: &str| masked.restore(text.as_bytes()).map(|found| String::from_utf8(found.real).unwrap());
    assert_eq!(yaml("d: <secret:d>\nb: \"<secret:b>\"\n").unwrap(), "d: y\nb: \"x\"\n");
    for text in ["a:\n    d: <secret:d>\n", "d: \"<secret:d>\" # c\n", "- <secret:d>\n", "a:\n  <secret:d>\n"] {
        assert_eq!(yaml(text), Err(RestoreError::Misplaced("d".into())), "{text:?}");
    }
    let masked = MaskedText::of(MaskFormat::Json, b"{\"a\": 12}").unwrap();
    assert_eq!(masked.restore(b"[\"<secret:a>\"]").unwrap().real, b"[12]");
    for text in ["{\"<secret:a>\": 1}", "{\"a\": \"x<secret:a>\"}"] {
        assert_eq!(masked.restore(text.as_bytes()).err(), Some(RestoreError::Misplaced("a".into())), "{text}");
    }
    assert_eq!(masked.restore(b"{\"a\": 1").err(), Some(RestoreError::Unmaskable));
    let masked = MaskedText::of(MaskFormat::Yaml, b"a: x, {y\nb:\n- c\n").unwrap();
    assert_eq!(masked.restore(b"b: <secret:a>\n").unwrap().real, b"b: x, {y\n");
    assert!(masked.restore(b"b: {q: <secret:a>}\n").is_err() && masked.restore(b"<secret:a>: 1\n").is_err());
}

const FORMATS: [MaskFormat; 9] = [
    MaskFormat::Dotenv,
    MaskFormat::Ini,
    MaskFormat::Json,
    MaskFormat::Yaml,
    MaskFormat::Toml,
    MaskFormat::Netrc,
    MaskFormat::Pgpass,
    MaskFormat::Htpasswd,
    MaskFormat::Whole,
];

/// A value that its format can hold, made of letters that no name has.
fn value() -> impl Strategy<Value = String> {
    "[qwzQWZ7]{4,20}"
}

/// A value of what has a meaning in one of the formats.
fn any_value() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9=#'\"`\\\\:;|>&{}$<-]{1,6}|[=#'\"\\\\:;]{1,2}"
}

/// Whether four characters of a value are in the shown text.
fn leaks(shown: &[u8], value: &str) -> bool {
    value.as_bytes().windows(4).any(|part| memchr::memmem::find(shown, part).is_some())
}

/// A sentinel is named after what is before its value, and must not read as a value of several lines itself.
#[test]
fn a_name_like_the_beginning_of_a_key_is_no_name() {
    let end = "-----END\n";
    for (text, shown) in [("A-----BEGINk: A\nk: ", "<secret:line>\n"), ("A-----BEGIN=a\nk=b\n", "<secret:line>\n")] {
        assert!(MaskedText::of(MaskFormat::Dotenv, text.as_bytes()).is_none());
        let text = format!("{text}{end}");
        let masked = MaskedText::of(MaskFormat::Dotenv, text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8_lossy(masked.bytes()), shown);
        assert_eq!(masked.restore(masked.bytes()).ok().map(|back| back.real), Some(text.into()));
    }
}

proptest! {
    #[test]
    fn any_bytes_mask_and_come_back(bytes in prop::collection::vec(any::<u8>(), 0..200), format in 0..FORMATS.len()) {
        if let Some(masked) = MaskedText::of(FORMATS[format], &bytes) {
            let restored = masked.restore(masked.bytes());
            prop_assert!(restored.is_ok_and(|restored| restored.real == bytes && restored.shown == masked.bytes()));
        }
    }

    #[test]
    fn any_text_of_marks_masks_and_comes_back(
        text in "([\"'`\\\\#;:=<>{}|& -]|\\[|\\]|\r?\n|\t|\"\"\"|<<A|A|ab|export |k: |k = |- |<secret:|-----BEGIN|-----END){0,30}",
        format in 0..FORMATS.len(),
    ) {
        if let Some(masked) = MaskedText::of(FORMATS[format], text.as_bytes()) {
            let restored = masked.restore(masked.bytes());
            let back = restored.map(|restored| (restored.real, restored.shown));
            prop_assert_eq!(back, Ok((text.into_bytes(), masked.bytes().to_vec())), "{}", String::from_utf8_lossy(masked.bytes()));
        }
    }

    /// Whatever is put together of what is shown, the answer is the same for all files that are shown so.
    #[test]
    fn an_acceptance_depends_on_the_shown_text_alone(
        lines in prop::collection::vec((0..8usize, any_value(), any_value()), 1..5),
        new in prop::collection::vec((0..12usize, 0..6usize), 0..6),
        format in 0..FORMATS.len(),
    ) {
        let format = FORMATS[format];
        let line = |kind: usize, at: usize, value: &str| match (format, kind) {
            (MaskFormat::Json, _) => format!("{}\"k{at}\": {value:?}", if at == 0 { "" } else { "," }),
            (MaskFormat::Yaml, 0) => format!("k{at}:\n  - {value}\n"),
            (MaskFormat::Yaml, 1) => format!("k{at}: \"{}\" # {value}\n", value.len()),
            (MaskFormat::Yaml, 2) => format!("k{at}: |\n  {value}\n  x\n"),
            (MaskFormat::Yaml, 3) => format!("- {value}\n"),
            (MaskFormat::Yaml, _) => format!("k{at}: {value}\n"),
            (MaskFormat::Toml, 0) => format!("k{at} = {value:?} # {value}\n"),
            (MaskFormat::Toml, _) => format!("k{at} = {value}\n"),
            (MaskFormat::Netrc, 0) => format!("machine {value}\n"),
            (MaskFormat::Netrc, 1) => format!("machine h {value} login {value}\n"),
            (MaskFormat::Netrc, 2) => format!("# {value}\n"),
            (MaskFormat::Netrc, _) => format!("machine h login {value} password {value}\n"),
            (MaskFormat::Pgpass | MaskFormat::Htpasswd, 0) => format!("{value}\n"),
            (MaskFormat::Pgpass, _) => format!("h:1:d:{value}:{value}\n"),
            (MaskFormat::Htpasswd, _) => format!("u{at}:{value}\n"),
            (MaskFormat::Whole, _) => value.to_owned(),
            (_, 0) => format!("# {value}\n"),
            (_, 1) => format!("# OLD{at}={value}\n"),
            (_, 2) => format!("{value}\n"),
            (_, 3) => format!("K{at}=\n  {value}\n"),
            (_, 4) => format!("K{at}={value}\n  {value}\n"),
            (_, 5) => format!("K{at} = {value}\n\n"),
            (_, 6) => format!("K{at}: {value}\n"),
            (_, _) => format!("K{at}={value}\n"),
        };
        let text = |value: fn(&(usize, String, String)) -> &String| {
            let lines: String = lines.iter().enumerate().map(|(at, one)| line(one.0, at, value(one))).collect();
            if format == MaskFormat::Json { format!("{{{lines}}}") } else { lines }
        };
        let files = [text(|one| &one.1), text(|one| &one.2)].map(|text| MaskedText::of(format, text.as_bytes()));
        let [Some(one), Some(other)] = files else { return Ok(()) };
        prop_assume!(one.bytes() == other.bytes());
        let shown = String::from_utf8(one.bytes().to_vec()).unwrap();
        let (sentinels, old): (Vec<&String>, Vec<&str>) = (one.values.iter().map(|one| &one.name).collect(), shown.lines().collect());
        let mut changed = String::new();
        for (kind, at) in &new {
            let sentinel = sentinels.get(at % sentinels.len().max(1)).map_or_else(String::new, |name| format!("<secret:{name}>"));
            let part = match kind {
                0 => format!("{}\n", line(*at, 9, &sentinel)),
                1 => line(7, 9, &sentinel),
                2 => line(7, 9, "x'"),
                3 => format!("    {sentinel}\n"),
                4 => format!("K9: {sentinel}\n"),
                5 => "Q=\n".to_owned(),
                6 => format!("machine {sentinel}\n"),
                7 => format!("k9:\n    k8: {sentinel} # x\n"),
                8 => format!("# {sentinel}\n"),
                _ => format!("{}\n", old.get(*at).unwrap_or(&"")),
            };
            changed.push_str(&part);
        }
        if format == MaskFormat::Json {
            changed = format!("{{{}}}", changed.trim_start_matches(','));
        }
        let answers = [&one, &other].map(|file| file.restore(changed.as_bytes()).map(|back| back.shown));
        prop_assert_eq!(&answers[0], &answers[1], "{}\n{}", shown, changed);
        // What is put back is read again as it was answered.
        for (file, answer) in [&one, &other].into_iter().zip(answers) {
            if let Ok(back) = file.restore(changed.as_bytes()) {
                let again = MaskedText::of(format, &back.real).map(MaskedText::into_bytes);
                prop_assert_eq!(again, answer.ok());
            }
        }
        let whole = [&one, &other].map(|file| file.restore(shown.as_bytes()).map(|back| back.shown));
        prop_assert_eq!(whole, [Ok(one.bytes().to_vec()), Ok(one.bytes().to_vec())]);
    }

    #[test]
    fn masking_what_is_masked_changes_nothing(text in "([A-C]=[a-z\"' ]{0,5}\n|# [a-z]{0,4}\n|\n){0,8}") {
        let Some(once) = MaskedText::of(MaskFormat::Dotenv, text.as_bytes()) else { return Ok(()) };
        let twice = MaskedText::of(MaskFormat::Dotenv, once.bytes()).unwrap();
        prop_assert_eq!(twice.bytes(), once.bytes());
    }

    #[test]
    fn no_part_of_a_value_is_shown(values in prop::collection::vec(value(), 1..6), quote in 0..4usize, format in 0..FORMATS.len()) {
        let (open, close) = [("", ""), ("\"", "\""), ("'", "'"), ("\"a\\\"\n", "\"")][quote];
        let mut text = String::new();
        for (at, value) in values.iter().enumerate() {
            let entry = match FORMATS[format] {
                MaskFormat::Dotenv => format!("# KEY={value}\nK{at}={open}{value}{close} # {value}\n"),
                MaskFormat::Ini => format!("[s{at}]\n# {value}\nk = {open}{value}{close}\n  {value} = {value}\n"),
                MaskFormat::Json => String::new(),
                MaskFormat::Yaml => format!("k{at}: {open}{value}{close}\nl: |\n  {value}: {value}\n# {value}\n"),
                MaskFormat::Toml => format!("k{at} = \"{value}\" # {value}\nl{at} = [\"{value}\"]\n"),
                MaskFormat::Netrc => format!("machine h login {value} password {open}{value}{close}\n"),
                MaskFormat::Pgpass => format!("h:1:d:{value}:{value}\n"),
                MaskFormat::Htpasswd => format!("u:{value}\n"),
                MaskFormat::Whole => format!("{value}\n"),
            };
            text.push_str(&entry);
        }
        if FORMATS[format] == MaskFormat::Json {
            text = format!("{{\"k\": {values:?}}}");
        }
        if let Some(masked) = MaskedText::of(FORMATS[format], text.as_bytes()) {
            for value in &values {
                prop_assert!(!leaks(masked.bytes(), value), "{text}\n{}", String::from_utf8_lossy(masked.bytes()));
            }
            prop_assert!(masked.restore(masked.bytes()).is_ok_and(|back| back.real == text.as_bytes()));
        } else {
            prop_assert!(quote == 3);
        }
    }
}
