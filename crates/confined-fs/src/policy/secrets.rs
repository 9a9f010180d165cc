//! The default list of secrets: files whose content is neither shown nor changed.
//!
//! A new secret name is a word here. `--deny` adds names, `--allow-secret` makes exceptions.

use std::sync::LazyLock;

use structured_text::key_names::NamesFormat::{self, Json, Lines, Toml, Yaml};

use super::{Folded, Rule};

pub(super) fn secrets() -> impl Iterator<Item = Rule> {
    RULES.iter().map(|(rule, _)| *rule)
}

static RULES: LazyLock<Vec<(Rule, Option<NamesFormat>)>> = LazyLock::new(|| {
    SECRET_NAMES.iter().flat_map(|(names, format)| Rule::all(names).map(|rule| (rule, *format))).collect()
});

/// Content that is never shown or changed, and the format of a file that may be a list of names with values: not of keys
/// and key stores, histories, and formats that have no names.
#[rustfmt::skip]
const SECRET_NAMES: &[(&str, Option<NamesFormat>)] = &[
    // Settings with secrets in them
    (".env .env.*", Some(Lines)),
    // Private keys and key stores
    ("id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.p8 *.pkcs12 *.jks *.jceks *.keystore *.ppk", None),
    ("*.kdbx *.kdb *.keychain-db .ssh/ .gnupg/ .password-store/", None),
    // Credentials of programs
    (".netrc _netrc .pgpass .htpasswd .git-credentials .config/git/credentials .vault-token", None),
    (".my.cnf", Some(Lines)),
    (".config/gh/hosts.yml .config/glab-cli/config.yml", Some(Yaml)),
    (".dockercfg .docker/config.json", Some(Json)),
    (".kube/config kubeconfig *.kubeconfig", Some(Yaml)),
    // Package managers
    (".npmrc .pypirc", Some(Lines)),
    (".cargo/credentials .cargo/credentials.toml", Some(Toml)),
    (".gem/credentials", Some(Yaml)),
    (".composer/auth.json", Some(Json)),
    (".m2/settings.xml .m2/settings-security.xml", None),
    // Clouds
    (".aws/credentials", Some(Lines)),
    (".azure/ .config/gcloud/", None),
    ("application_default_credentials.json *service-account*.json *service_account*.json", Some(Json)),
    ("*serviceaccount*.json *client_secret*.json credentials.json", Some(Json)),
    (".s3cfg .boto rclone/rclone.conf .oci/config", Some(Lines)),
    ("terraform.tfstate *.tfstate*.backup *.tfstate credentials.tfrc.json", Some(Json)),
    (".terraformrc terraform.rc", None),
    // What people typed, passwords among it
    (".bash_history .zsh_history .python_history .psql_history .mysql_history .node_repl_history", None),
];

/// The format of a secret of this name: the one that every rule for it has, but for what its extension says.
pub(super) fn names_format(path: &Folded) -> Option<NamesFormat> {
    let mut formats = RULES.iter().filter(|(rule, _)| rule.matches(path)).map(|(_, format)| *format);
    let first = formats.next()?;
    first.filter(|_| formats.all(|other| other == first))?;
    let extension = path.as_str().rsplit_once('.').map(|(_, extension)| extension);
    Some(match extension {
        Some("json") => Json,
        Some("toml") => Toml,
        Some("yaml" | "yml") => Yaml,
        _ => first?,
    })
}

/// Exceptions to the secret names: made to be shown.
pub(super) static PUBLIC: LazyLock<Vec<Rule>> =
    LazyLock::new(|| PUBLIC_NAMES.iter().copied().flat_map(Rule::all).collect());

const PUBLIC_NAMES: &[&str] = &[
    "*.env.*.example *.env.*.sample *.env.*.template .env.example .env.sample .env.template id_*.pub *.pub.pem",
    "*.pub.key",
    // The word by itself: `republic.pem` and `nonpublic.key` are private keys like others.
    "public.pem public.key public_key.pem public-key.pem pubkey.pem *.public.pem *-public.pem *_public.pem",
    "*.public.key *-public.key *_public.key *.public_key.pem *-public_key.pem *_public_key.pem *.public-key.pem",
    "*-public-key.pem *_public-key.pem *.pubkey.pem *-pubkey.pem *_pubkey.pem",
];
