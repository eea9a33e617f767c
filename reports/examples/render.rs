//! Scratch.
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let start = std::time::Instant::now();
    highwater_reports::render(&highwater_history::RunFolder::new(dir)).unwrap();
    println!("{:?}", start.elapsed());
}
