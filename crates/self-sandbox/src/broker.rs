//! The process that starts language servers: the confined server may start no program, so this one does.
//!
//! `main` starts it before it confines itself, and gives it a table of programs and directories. After that it knows
//! two requests: start program I in directory D of root R, and end program N. No program, argument, variable or right
//! can be named in a request, so a server that a model has taken over can start only what the person configured. The
//! pipes of a program go to the server over the socket (`SCM_RIGHTS`, unix(7)): the broker never sees what they carry,
//! and needs the same little memory whatever a program sends.
//!
//! Each program runs through `rootbound exec`: with its own Landlock domain and filter, without network unless it
//! is allowed, with few variables. It dies with the broker, and the broker ends all of them when the socket closes.
//!
//! Limits: Linux only, and not in a build without the feature `broker`. A program may do in its directories what `exec`
//! allows, and may start others, behind the same walls.

#[cfg(all(target_os = "linux", feature = "broker"))]
mod connection;
#[cfg(all(target_os = "linux", feature = "broker"))]
mod request;
#[cfg(all(target_os = "linux", feature = "broker"))]
mod serve;
mod table;
#[cfg(not(all(target_os = "linux", feature = "broker")))]
mod unsupported;

#[cfg(all(target_os = "linux", feature = "broker"))]
pub use connection::{Broker, ProgramInput, ProgramOutput, StartedProgram};
#[cfg(all(target_os = "linux", feature = "broker"))]
pub use serve::serve as serve_broker;
pub use table::{BROKER_COMMAND, BrokeredProgram, MAX_RUNNING, find_program};
#[cfg(not(all(target_os = "linux", feature = "broker")))]
pub use unsupported::{Broker, ProgramInput, ProgramOutput, StartedProgram, serve_broker};
