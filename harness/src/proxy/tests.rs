//! Rules on real sockets between stand-in nodes.
