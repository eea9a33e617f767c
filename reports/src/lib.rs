//! Turns a judged run into HTML, JSON and JUnit.
