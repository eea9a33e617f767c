//! A whole broker or controller without I/O.
