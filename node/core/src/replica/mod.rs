//! One partition's replica on one broker, as leader or follower.
