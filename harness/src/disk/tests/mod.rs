//! What a power loss takes and leaves, on a model of a file system that journals as the shim does.

mod cases;
mod journal;
mod model;
mod properties;
