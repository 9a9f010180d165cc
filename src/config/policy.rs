//! The policy options → [`PolicyRules`]: for all directories, or for one `[[root]]` of the file.
//!
//! Spelling only; what a pattern means below a root is the workspace's matter.

use crate::workspace::PolicyRules;

use super::options::{Place, Typed};

/// The rules in `typed`; each pattern that cannot be one is a problem.
pub(super) fn rules(typed: &Typed, problems: &mut Vec<String>) -> PolicyRules {
    let mut globs = |flag: &str| -> Vec<String> {
        for (option, given) in typed.each(flag) {
            if let Err(why) = PolicyRules::check(&given.text) {
                problems.push(format!(
                    "{} pattern {:?} is not a glob: {why}",
                    Place(option, &given.source),
                    given.text
                ));
            }
        }
        typed.list(flag)
    };
    PolicyRules {
        deny: globs("deny"),
        allow_secret: globs("allow-secret"),
        protect: globs("protect"),
        allow_protected: globs("allow-protected"),
        hide: globs("hide"),
    }
}
