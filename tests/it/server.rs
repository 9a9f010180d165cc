//! The server: the protocol, its sessions and callers, and its limits.

mod audit;
mod concurrent_calls;
mod confirm;
mod confirm_through_model;
mod events;
mod lsp;
mod protocol;
mod resources;
mod roles;
mod session_quota;
mod shared_session;
mod size_limits;
mod stdio;
mod system_limits;
