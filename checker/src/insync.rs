//! What being in sync obliges to: to hold everything that is committed, and to keep up.

pub mod lag;
pub mod legal;
pub mod strong;
