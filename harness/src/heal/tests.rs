//! What a killed run leaves is restored, once.
