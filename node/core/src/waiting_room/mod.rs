//! Requests that wait for the log to move, with their deadlines.
