//! The default rules: tables of names, each in the form it is reported in.

use std::fmt;

use super::fold::Folded;

/// One rule on a folded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The last name is exactly this.
    Name(&'static str),
    /// The last name begins so.
    Prefix(&'static str),
    /// The last name ends so.
    Suffix(&'static str),
    /// The last name holds the first text and ends with the second.
    Within(&'static str, &'static str),
    /// The last name begins with the first text and ends with the second.
    Around(&'static str, &'static str),
    /// The path ends with these names.
    Tail(&'static str),
    /// A name (or names) of the path, and everything below it.
    Tree(&'static str),
    /// The last name ends with the second text, somewhere below a directory with the first name.
    Below(&'static str, &'static str),
    /// The path is just this name, at the top of a root.
    Top(&'static str),
    /// The path is one name at the top of a root that ends so.
    TopSuffix(&'static str),
}

impl Rule {
    pub(super) fn matches(self, path: &Folded) -> bool {
        let name = path.file_name();
        match self {
            Self::Name(text) => name == text,
            Self::Prefix(text) => name.starts_with(text),
            Self::Suffix(text) => name.ends_with(text),
            Self::Within(text, end) => name.ends_with(end) && name.contains(text),
            Self::Around(text, end) => name.strip_prefix(text).is_some_and(|rest| rest.ends_with(end)),
            Self::Tail(text) => {
                path.as_str().strip_suffix(text).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            }
            Self::Tree(text) => path
                .tails()
                .any(|tail| tail.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))),
            Self::Below(text, end) => name.ends_with(end) && Self::Tree(text).matches(path),
            Self::Top(text) => path.as_str() == text,
            Self::TopSuffix(text) => name.ends_with(text) && !path.as_str().contains('/'),
        }
    }

    /// Paths that it matches.
    #[cfg(test)]
    pub(super) fn examples(self) -> Vec<String> {
        match self {
            Self::Within(text, end) | Self::Around(text, end) => vec![format!("{text}{end}"), format!("{text}b{end}")],
            Self::Below(text, end) => vec![format!("{text}/a{end}"), format!("{text}/b/c{end}")],
            Self::Prefix(text) => vec![text.to_owned(), format!("{text}x")],
            Self::Suffix(text) | Self::TopSuffix(text) => vec![text.to_owned(), format!("x{text}")],
            Self::Name(text) | Self::Tail(text) | Self::Tree(text) | Self::Top(text) => vec![text.to_owned()],
        }
    }

    /// The first name of what it matches at the top of a root, where there is just one.
    pub(super) fn first_name(self) -> Option<&'static str> {
        match self {
            Self::Name(text) | Self::Tail(text) | Self::Tree(text) | Self::Top(text) => text.split('/').next(),
            _ => None,
        }
    }

    /// What the rule is about below a directory at `path`, where that is not all of it: `tasks.json` below
    /// `.vscode`.
    pub(super) fn rest_below(self, path: &Folded) -> Option<&'static str> {
        match self {
            Self::Tree(text) | Self::Tail(text) => {
                path.tails().find_map(|tail| text.strip_prefix(tail)?.strip_prefix('/'))
            }
            _ => None,
        }
    }

    /// Whether the rule is about a directory with all its content.
    pub(super) fn covers_directory(self) -> bool {
        matches!(self, Self::Tree(_))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Tail(text) => write!(f, "`{text}`"),
            Self::Prefix(text) => write!(f, "`{text}*`"),
            Self::Suffix(text) => write!(f, "`*{text}`"),
            Self::Within(text, end) => write!(f, "`*{text}*{end}`"),
            Self::Around(text, end) => write!(f, "`{text}*{end}`"),
            Self::Tree(text) => write!(f, "`{text}/`"),
            Self::Below(text, end) => write!(f, "`{text}/**/*{end}`"),
            Self::Top(text) => write!(f, "`/{text}`"),
            Self::TopSuffix(text) => write!(f, "`/*{text}`"),
        }
    }
}

/// Content that is never shown or changed.
pub(super) const SECRET: &[Rule] = &[
    // Settings with secrets in them
    Rule::Name(".env"),
    Rule::Prefix(".env."),
    // Private keys and key stores
    Rule::Prefix("id_rsa"),
    Rule::Prefix("id_dsa"),
    Rule::Prefix("id_ecdsa"),
    Rule::Prefix("id_ed25519"),
    Rule::Suffix(".pem"),
    Rule::Suffix(".key"),
    Rule::Suffix(".p12"),
    Rule::Suffix(".pfx"),
    Rule::Suffix(".p8"),
    Rule::Suffix(".pkcs12"),
    Rule::Suffix(".jks"),
    Rule::Suffix(".jceks"),
    Rule::Suffix(".keystore"),
    Rule::Suffix(".ppk"),
    Rule::Suffix(".kdbx"),
    Rule::Suffix(".kdb"),
    Rule::Suffix(".keychain-db"),
    Rule::Tree(".ssh"),
    Rule::Tree(".gnupg"),
    Rule::Tree(".password-store"),
    // Credentials of programs
    Rule::Name(".netrc"),
    Rule::Name("_netrc"),
    Rule::Name(".pgpass"),
    Rule::Name(".my.cnf"),
    Rule::Name(".htpasswd"),
    Rule::Name(".git-credentials"),
    Rule::Tail(".config/git/credentials"),
    Rule::Tail(".config/gh/hosts.yml"),
    Rule::Tail(".config/glab-cli/config.yml"),
    Rule::Name(".vault-token"),
    Rule::Name(".dockercfg"),
    Rule::Tail(".docker/config.json"),
    Rule::Tail(".kube/config"),
    Rule::Name("kubeconfig"),
    Rule::Suffix(".kubeconfig"),
    // Package managers
    Rule::Name(".npmrc"),
    Rule::Name(".pypirc"),
    Rule::Tail(".cargo/credentials"),
    Rule::Tail(".cargo/credentials.toml"),
    Rule::Tail(".gem/credentials"),
    Rule::Tail(".composer/auth.json"),
    Rule::Tail(".m2/settings.xml"),
    Rule::Tail(".m2/settings-security.xml"),
    // Clouds
    Rule::Tail(".aws/credentials"),
    Rule::Tree(".azure"),
    Rule::Tree(".config/gcloud"),
    Rule::Name("application_default_credentials.json"),
    Rule::Within("service-account", ".json"),
    Rule::Within("service_account", ".json"),
    Rule::Within("serviceaccount", ".json"),
    Rule::Within("client_secret", ".json"),
    Rule::Name("credentials.json"),
    Rule::Name(".s3cfg"),
    Rule::Name(".boto"),
    Rule::Tail("rclone/rclone.conf"),
    Rule::Tail(".oci/config"),
    Rule::Name("terraform.tfstate"),
    Rule::Within(".tfstate", ".backup"),
    Rule::Suffix(".tfstate"),
    Rule::Name(".terraformrc"),
    Rule::Name("terraform.rc"),
    Rule::Name("credentials.tfrc.json"),
    // What was typed once
    Rule::Name(".bash_history"),
    Rule::Name(".zsh_history"),
    Rule::Name(".python_history"),
    Rule::Name(".psql_history"),
    Rule::Name(".mysql_history"),
    Rule::Name(".node_repl_history"),
];

/// Exceptions to the secret names: made to be shown.
pub(super) const PUBLIC: &[Rule] = &[
    Rule::Within(".env.", ".example"),
    Rule::Within(".env.", ".sample"),
    Rule::Within(".env.", ".template"),
    Rule::Name(".env.example"),
    Rule::Name(".env.sample"),
    Rule::Name(".env.template"),
    Rule::Around("id_", ".pub"),
    Rule::Suffix(".pub.pem"),
    Rule::Suffix(".pub.key"),
    // The word by itself: `republic.pem` and `nonpublic.key` are private keys like others.
    Rule::Name("public.pem"),
    Rule::Name("public.key"),
    Rule::Name("public_key.pem"),
    Rule::Name("public-key.pem"),
    Rule::Name("pubkey.pem"),
    Rule::Suffix(".public.pem"),
    Rule::Suffix("-public.pem"),
    Rule::Suffix("_public.pem"),
    Rule::Suffix(".public.key"),
    Rule::Suffix("-public.key"),
    Rule::Suffix("_public.key"),
    Rule::Suffix(".public_key.pem"),
    Rule::Suffix("-public_key.pem"),
    Rule::Suffix("_public_key.pem"),
    Rule::Suffix(".public-key.pem"),
    Rule::Suffix("-public-key.pem"),
    Rule::Suffix("_public-key.pem"),
    Rule::Suffix(".pubkey.pem"),
    Rule::Suffix("-pubkey.pem"),
    Rule::Suffix("_pubkey.pem"),
];
