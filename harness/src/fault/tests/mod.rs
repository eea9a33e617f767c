//! Parameters are read or refused by name; every fault acts and heals on real processes.
