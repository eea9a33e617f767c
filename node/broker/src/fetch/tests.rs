//! Tests of serving fetches: sessions and limits.
