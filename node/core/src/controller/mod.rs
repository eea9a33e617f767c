//! The active controller: decides on registrations, elections, ISR changes and topics.
