//! The formats of a run folder, their readers and the recorder.
