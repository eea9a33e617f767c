//! What the clients of a run do: generators and clients.
