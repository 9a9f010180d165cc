//! The default list of secrets: files whose content is neither shown nor changed.
//!
//! A new secret name is a row here. `--deny` adds names, `--allow-secret` makes exceptions.

use crate::text::mask::MaskFormat;

use super::{Folded, Rule};

/// The rules of the list.
pub(super) fn secrets() -> impl Iterator<Item = Rule> {
    SECRET.iter().copied()
}

/// Content that is never shown or changed.
const SECRET: &[Rule] = &[
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
    // What people typed, passwords among it
    Rule::Name(".bash_history"),
    Rule::Name(".zsh_history"),
    Rule::Name(".python_history"),
    Rule::Name(".psql_history"),
    Rule::Name(".mysql_history"),
    Rule::Name(".node_repl_history"),
];

/// The secrets whose format is known well enough to mask every value. What is not here stays denied: keys and key stores,
/// histories, and formats without a reader.
const MASKABLE: &[(Rule, MaskFormat)] = &[
    (Rule::Name(".env"), MaskFormat::Dotenv),
    (Rule::Prefix(".env."), MaskFormat::Dotenv),
    (Rule::Name(".netrc"), MaskFormat::Netrc),
    (Rule::Name("_netrc"), MaskFormat::Netrc),
    (Rule::Name(".pgpass"), MaskFormat::Pgpass),
    (Rule::Name(".my.cnf"), MaskFormat::Ini),
    (Rule::Name(".htpasswd"), MaskFormat::Htpasswd),
    (Rule::Tail(".config/gh/hosts.yml"), MaskFormat::Yaml),
    (Rule::Tail(".config/glab-cli/config.yml"), MaskFormat::Yaml),
    (Rule::Name(".vault-token"), MaskFormat::Whole),
    (Rule::Name(".dockercfg"), MaskFormat::Json),
    (Rule::Tail(".docker/config.json"), MaskFormat::Json),
    (Rule::Tail(".kube/config"), MaskFormat::Yaml),
    (Rule::Name("kubeconfig"), MaskFormat::Yaml),
    (Rule::Suffix(".kubeconfig"), MaskFormat::Yaml),
    (Rule::Name(".npmrc"), MaskFormat::Ini),
    (Rule::Name(".pypirc"), MaskFormat::Ini),
    (Rule::Tail(".cargo/credentials"), MaskFormat::Toml),
    (Rule::Tail(".cargo/credentials.toml"), MaskFormat::Toml),
    (Rule::Tail(".gem/credentials"), MaskFormat::Yaml),
    (Rule::Tail(".composer/auth.json"), MaskFormat::Json),
    (Rule::Tail(".aws/credentials"), MaskFormat::Ini),
    (Rule::Name("application_default_credentials.json"), MaskFormat::Json),
    (Rule::Within("service-account", ".json"), MaskFormat::Json),
    (Rule::Within("service_account", ".json"), MaskFormat::Json),
    (Rule::Within("serviceaccount", ".json"), MaskFormat::Json),
    (Rule::Within("client_secret", ".json"), MaskFormat::Json),
    (Rule::Name("credentials.json"), MaskFormat::Json),
    (Rule::Name(".s3cfg"), MaskFormat::Ini),
    (Rule::Name(".boto"), MaskFormat::Ini),
    (Rule::Tail("rclone/rclone.conf"), MaskFormat::Ini),
    (Rule::Tail(".oci/config"), MaskFormat::Ini),
    (Rule::Name("terraform.tfstate"), MaskFormat::Json),
    (Rule::Within(".tfstate", ".backup"), MaskFormat::Json),
    (Rule::Suffix(".tfstate"), MaskFormat::Json),
    (Rule::Name("credentials.tfrc.json"), MaskFormat::Json),
];

/// How a secret of this name is masked: in the one format that every rule for it has.
pub(super) fn mask_format(path: &Folded) -> Option<MaskFormat> {
    let format = |rule: Rule| MASKABLE.iter().find(|(maskable, _)| *maskable == rule).map(|(_, format)| *format);
    let mut formats = secrets().filter(|rule| rule.matches(path)).map(format);
    let first = formats.next()??;
    formats.all(|other| other == Some(first)).then_some(first)
}

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
