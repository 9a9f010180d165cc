//! Tests of the layer as a whole, on real directories, with both ways of opening.

#![expect(clippy::disallowed_methods, reason = "the tests arrange and look from outside the sandbox")]

mod fixture;
mod ignores;
mod paths;
mod walks;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use beneath::Dir;

use crate::error::{AccessErrorKind, PathError};
use crate::policy::PolicyRules;
use crate::root::{Access, RootSpec};
use crate::shared::{Workspace, WorkspaceOptions};
use crate::walk::{Entry, IgnoreRules, Ignored, WalkOptions, WalkReport};
use fixture::Fixture;
