//! The records of the metadata log and the image that they replay to.
