//! The policy of the machine: one file of its administrator that only takes away, whatever people configure.
//!
//! Its place is fixed, so that no option, variable or file of a workspace names another one.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use confined_fs::{PolicyRules, RootSpec, Secrets};
use file_tools::{Group, Selection};
use serde::Deserialize;

use super::{environment::names_of, file, findings::nearest_or_all};

/// What the administrator takes away.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachinePolicy {
    #[serde(skip)]
    file: PathBuf,
    /// Names and paths of this machine whose content is refused.
    #[serde(default)]
    deny: Vec<String>,
    /// The same for files that are not written.
    #[serde(default)]
    protect: Vec<String>,
    secrets: Option<MostShown>,
    /// The groups of tools that `--allow` may name; `None` for all.
    allow: Option<Vec<String>>,
    #[serde(default, rename = "audit_required")]
    pub(super) requires_audit: bool,
    exec: Option<bool>,
}

/// What may be shown of secrets at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MostShown {
    Deny,
    Names,
}

impl MachinePolicy {
    /// Reads `file`; `None` if there is none.
    ///
    /// # Errors
    /// Why the program does not start: all that is wrong with it.
    pub(super) fn read(file: &Path) -> Result<Option<Self>, Vec<String>> {
        let unusable = |why: String| vec![format!("the policy of this machine, {}, {why}", file.display())];
        match changed_by_others(file) {
            Ok(None) => {}
            Ok(Some(why)) => return Err(unusable(why)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(format!("cannot be read: {error}"))),
        }
        let text = file::text(file).map_err(|why| unusable(format!("cannot be read: {why}")))?;
        let policy: Self = toml::from_str(&text)
            .map_err(|error| unusable(format!("is not valid: {}", error.to_string().trim().replace('\n', " "))))?;
        let problems = policy.problems();
        if problems.is_empty() {
            return Ok(Some(Self { file: file.to_owned(), ..policy }));
        }
        Err(problems.into_iter().flat_map(unusable).collect())
    }

    fn problems(&self) -> Vec<String> {
        let wrong = |pattern: &String| {
            Some(format!("has the pattern {pattern:?}, which {}", PolicyRules::check_on_machine(pattern).err()?))
        };
        let known: Vec<&str> = Group::NAMED.iter().map(|(name, _)| *name).collect();
        let unknown = |group: &String| {
            let near = || nearest_or_all(group, &known, "groups");
            (!known.contains(&group.as_str()))
                .then(|| format!("allows {group:?}, which is no group of tools: {}", near()))
        };
        let patterns = self.deny.iter().chain(&self.protect).filter_map(wrong);
        patterns.chain(self.allow.iter().flatten().filter_map(unknown)).collect()
    }

    /// Why a program of the person is not started, if that is refused.
    pub(super) fn exec_refusal(&self) -> Option<String> {
        let file = self.file.display();
        (self.exec == Some(false))
            .then(|| format!("the policy of this machine, {file}, refuses to start programs (exec = false)"))
    }

    /// Takes from directories and tools what the policy does not leave; `taken` gets the options that are not in force.
    pub(super) fn limit(&self, roots: &mut [RootSpec], selection: &mut Selection, taken: &mut BTreeSet<String>) {
        for RootSpec { path, policy, .. } in roots {
            self.limit_secrets(policy, taken);
            let hosts = names_of(path);
            // A root by two names has most patterns twice.
            let below = |own: &[String]| -> BTreeSet<String> {
                own.iter().flat_map(|one| hosts.iter().flat_map(move |host| PolicyRules::below(one, host))).collect()
            };
            policy.deny.extend(below(&self.deny));
            policy.protect.extend(below(&self.protect));
        }
        let is_left = |group: &str| self.allow.as_ref().is_none_or(|left| left.iter().any(|one| one == group));
        for (name, group) in Group::NAMED.iter().filter(|(name, _)| !is_left(name)) {
            if selection.groups.contains(group) {
                taken.insert(format!("--allow {name}"));
            }
            selection.groups.retain(|other| other != group);
        }
    }

    /// As [`Self::limit`], for the rules about secrets.
    pub(super) fn limit_secrets(&self, rules: &mut PolicyRules, taken: &mut BTreeSet<String>) {
        let Some(most) = self.secrets else { return };
        if !std::mem::take(&mut rules.allow_secret).is_empty() {
            taken.insert("--allow-secret".to_owned());
        }
        if most == MostShown::Deny && rules.secrets == Some(Secrets::Names) {
            rules.secrets = Some(Secrets::Deny);
            taken.insert("--secrets names".to_owned());
        }
    }

    /// Where it is, and what it takes away.
    pub(super) fn lines(&self) -> Vec<String> {
        let list = |what: &str, names: Option<&Vec<String>>| {
            let names = Some(names?.join(", ")).filter(|names| !names.is_empty());
            Some(format!("{what}: {}", names.as_deref().unwrap_or("none")))
        };
        let secrets = self.secrets.map(|most| format!("secrets: {most:?} at most, no exceptions").to_lowercase());
        let lines = [
            Some(self.file.display().to_string()),
            list("content refused", Some(&self.deny).filter(|deny| !deny.is_empty())),
            list("not written", Some(&self.protect).filter(|protect| !protect.is_empty())),
            secrets,
            list("groups of tools that may be allowed", self.allow.as_ref()),
            self.requires_audit.then(|| "an audit is required".to_owned()),
            self.exec_refusal().map(|_| "no programs: neither `rootbound exec` nor language servers".to_owned()),
        ];
        lines.into_iter().flatten().collect()
    }
}

/// Why somebody but root could change the file at `path`, or put another one there; `None` if nobody can.
///
/// # Errors
/// `NotFound` where there is none; a link that leads to nothing is another error, as it was put there for a reason.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a file of the system, on whose path only root may have made links")]
fn changed_by_others(path: &Path) -> io::Result<Option<String>> {
    use std::{collections::VecDeque, ffi::OsString, os::unix::fs::MetadataExt as _, path::Component};

    /// As many as Linux follows in one path (`path_resolution(7)`).
    const MAX_LINKS: usize = 40;

    let names = |path: &Path| path.components().map(|name| name.as_os_str().to_owned()).collect::<VecDeque<OsString>>();
    let (mut rest, mut at, mut links, mut why) = (names(path), PathBuf::new(), 0, None);
    while let Some(name) = rest.pop_front() {
        match Path::new(&name).components().next() {
            Some(Component::RootDir) => at = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                at.pop();
                continue;
            }
            Some(Component::CurDir) | None => continue,
            Some(_) => at.push(&name),
        }
        let found = match at.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && links > 0 => {
                return Err(io::Error::other("a link on the way leads to nothing"));
            }
            found => found?,
        };
        if found.uid() != 0 {
            let owner = || format!("is not trusted: {} belongs to the user {}, not to root", at.display(), found.uid());
            why.get_or_insert_with(owner);
        }
        if found.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::other("there are too many links on the way"));
            }
            let target = at.read_link()?;
            at.pop();
            rest = names(&target).into_iter().chain(rest).collect();
        } else if found.mode() & 0o022 != 0 {
            why.get_or_insert_with(|| format!("is not trusted: others than root may write {}", at.display()));
        } else if rest.is_empty() && !found.is_file() {
            why.get_or_insert_with(|| "is not a regular file".to_owned());
        }
    }
    // Only of a file that is there: in a user namespace without root, as sandboxes make, `/` belongs to nobody.
    Ok(why)
}

/// As in its folder, which only administrators may change unless they have given that right away.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "a file of the system")]
fn changed_by_others(path: &Path) -> io::Result<Option<String>> {
    path.symlink_metadata().map(|_| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_keys_and_values_are_read() {
        let read = |text: &str| toml::from_str::<MachinePolicy>(text).map(|policy| policy.problems());
        for text in [
            "",
            "deny = ['/srv/hr', '*.pem']\nprotect = ['/etc/']\nsecrets = 'deny'\nallow = []\nexec = false",
            "audit_required = true",
        ] {
            assert_eq!(read(text).expect(text), Vec::<String>::new(), "{text}");
        }
        for text in [
            "denied = []",
            "secrets = 'allow'",
            "allow = 'manage'",
            "exec = 'no'",
            "deny = [1]",
            "[root]\npath = '/'",
            "deny",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in [
            "deny = ['']",
            "deny = ['!x']",
            "deny = ['~/x']",
            "protect = ['a/../b']",
            "deny = ['{a/b,c}']",
            "deny = ['[']",
            "allow = ['exec']",
        ] {
            assert_eq!(read(text).expect(text).len(), 1, "{text}");
        }
    }
}
