//! The source checks itself: which crate may see which, and what every file must look like.

mod layering;
mod links;
mod tidy;
mod tree;
