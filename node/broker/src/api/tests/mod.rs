//! What clients read of the metadata, on an image of three brokers.

mod configs;
mod describe;
mod image;
mod metadata;
mod random;
mod table;
