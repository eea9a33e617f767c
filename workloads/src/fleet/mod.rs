//! All clients of a run as one value: who operates when, sessions that end and follow each other.
