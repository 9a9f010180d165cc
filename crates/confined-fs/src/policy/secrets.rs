//! The default list of secrets: files whose content is neither shown nor changed.
//!
//! A new secret name is a word here. `--deny` adds names, `--allow-secret` makes exceptions.

use std::sync::LazyLock;

use structured_text::mask::MaskFormat;

use super::{Folded, Rule};

/// The rules of the list.
pub(super) fn secrets() -> impl Iterator<Item = Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| SECRET.iter().copied().flat_map(Rule::all).collect());
    RULES.iter().copied()
}

/// Content that is never shown or changed.
const SECRET: &[&str] = &[
    // Settings with secrets in them
    ".env .env.*",
    // Private keys and key stores
    "id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.p8 *.pkcs12 *.jks *.jceks *.keystore *.ppk",
    "*.kdbx *.kdb *.keychain-db .ssh/ .gnupg/ .password-store/",
    // Credentials of programs
    ".netrc _netrc .pgpass .my.cnf .htpasswd .git-credentials .config/git/credentials .config/gh/hosts.yml",
    ".config/glab-cli/config.yml .vault-token .dockercfg .docker/config.json .kube/config kubeconfig",
    "*.kubeconfig",
    // Package managers
    ".npmrc .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json",
    ".m2/settings.xml .m2/settings-security.xml",
    // Clouds
    ".aws/credentials .azure/ .config/gcloud/ application_default_credentials.json *service-account*.json",
    "*service_account*.json *serviceaccount*.json *client_secret*.json credentials.json .s3cfg .boto",
    "rclone/rclone.conf .oci/config terraform.tfstate *.tfstate*.backup *.tfstate .terraformrc terraform.rc",
    "credentials.tfrc.json",
    // What people typed, passwords among it
    ".bash_history .zsh_history .python_history .psql_history .mysql_history .node_repl_history",
];

/// The secrets whose format is known well enough to mask every value. What is not here stays denied: keys and key stores,
/// histories, and formats without a reader.
const MASKABLE: &[(&str, MaskFormat)] = &[
    (".env .env.*", MaskFormat::Dotenv),
    (".netrc _netrc", MaskFormat::Netrc),
    (".pgpass", MaskFormat::Pgpass),
    (".my.cnf .npmrc .pypirc .aws/credentials .s3cfg .boto rclone/rclone.conf .oci/config", MaskFormat::Ini),
    (".htpasswd", MaskFormat::Htpasswd),
    (
        ".config/gh/hosts.yml .config/glab-cli/config.yml .kube/config kubeconfig *.kubeconfig .gem/credentials",
        MaskFormat::Yaml,
    ),
    (".vault-token", MaskFormat::Whole),
    (
        ".dockercfg .docker/config.json .composer/auth.json application_default_credentials.json \
         *service-account*.json *service_account*.json *serviceaccount*.json *client_secret*.json \
         credentials.json terraform.tfstate *.tfstate*.backup *.tfstate credentials.tfrc.json",
        MaskFormat::Json,
    ),
    (".cargo/credentials .cargo/credentials.toml", MaskFormat::Toml),
];

/// How a secret of this name is masked: in the one format that every rule for it has.
pub(super) fn mask_format(path: &Folded) -> Option<MaskFormat> {
    let format = |rule: Rule| {
        MASKABLE.iter().find(|(names, _)| Rule::all(names).any(|one| one == rule)).map(|(_, format)| *format)
    };
    let mut formats = secrets().filter(|rule| rule.matches(path)).map(format);
    let first = formats.next()??;
    formats.all(|other| other == Some(first)).then_some(first)
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
