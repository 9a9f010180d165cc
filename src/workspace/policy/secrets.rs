//! The default list of secrets: files whose content is neither shown nor changed.
//!
//! A new secret name is a row here. `--deny` adds names, `--allow-secret` makes exceptions.

use super::Rule;

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
