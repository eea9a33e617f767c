//! The contract's rules that a mutant can break, one named function each.
