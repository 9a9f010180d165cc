//! Reading and answering: what every answer is made of, and how a path names a file.

mod answer_budget;
mod answers;
mod declared;
mod long_paths;
#[cfg(target_os = "linux")]
mod look_alike;
mod ls;
mod paging;
mod present;
mod printable;
mod read;
mod references;
mod spelling;
mod wait;
