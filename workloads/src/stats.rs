//! Latency from the intended start, and counts, per kind of operation and acks level.
