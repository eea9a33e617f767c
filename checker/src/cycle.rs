//! Cycles among operations: what came before what, and where that goes round in a circle.
//!
//! [`links`] says which operation must precede which and why; [`search`] finds the components that
//! are strongly connected and a short cycle in each.

pub mod links;
pub mod search;
