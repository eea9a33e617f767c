//! Tests of the waiting room: when requests are released, and in which order.
