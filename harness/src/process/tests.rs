//! Real processes: found, marked, signalled, waited for.
