//! A reader that does not read, and what it finds when it reads again.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::*;

const LONG: Duration = Duration::from_secs(20);

/// Takes one write for each permit.
struct Reader {
    asked: Sender<()>,
    permits: Receiver<()>,
    text: Arc<Mutex<String>>,
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = self.asked.send(());
        let _ = self.permits.recv();
        self.text.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The queue, a way to wait for a write, a way to let one through, and what was read.
fn bench(limit: usize) -> (Arc<LogQueue>, Receiver<()>, Sender<()>, Arc<Mutex<String>>) {
    let queue = Arc::new(LogQueue::new(limit));
    let (asked, asks) = channel();
    let (permit, permits) = channel();
    let text = Arc::new(Mutex::new(String::new()));
    let mut reader = Reader { asked, permits, text: text.clone() };
    let writer = queue.clone();
    let gap = |count: u64| format!("{count} dropped\n");
    thread::spawn(move || writer.write_all(&mut reader, &gap));
    (queue, asks, permit, text)
}

#[test]
fn lines_come_in_order_and_whole() {
    let (queue, _asks, permit, text) = bench(1 << 20);
    assert!(queue.flush(Duration::ZERO), "nothing waits");
    let lines: Vec<String> = (0..1_000).map(|number| format!("line {number}\n")).collect();
    lines.iter().for_each(|line| queue.push(line));
    drop(permit);
    assert!(queue.flush(LONG));
    assert_eq!(*text.lock().unwrap(), lines.concat());
}

#[test]
fn nobody_waits_for_a_reader_that_does_not_read_and_the_gap_is_counted() {
    let (queue, asks, permit, text) = bench(4);
    queue.push("a\n");
    asks.recv_timeout(LONG).unwrap();
    // The writer is stuck with the first line: two more fit.
    ["b\n", "c\n", "too long\n", "d\n"].iter().for_each(|line| queue.push(line));
    assert!(!queue.flush(Duration::from_millis(1)), "not all is written");
    permit.send(()).unwrap();
    asks.recv_timeout(LONG).unwrap();
    queue.push("e\n");
    drop(permit);
    assert!(queue.flush(LONG));
    assert_eq!(*text.lock().unwrap(), "a\nb\nc\n2 dropped\ne\n");
}
