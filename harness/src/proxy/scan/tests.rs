//! Frames are found however their bytes arrive, and answers find their requests.

use proptest::prelude::*;

use super::*;

fn request(api_key: i16, correlation_id: i32, client_id: &str, body: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.extend(api_key.to_be_bytes());
    frame.extend(3i16.to_be_bytes());
    frame.extend(correlation_id.to_be_bytes());
    frame.extend((client_id.len() as i16).to_be_bytes());
    frame.extend(client_id.as_bytes());
    frame.extend(vec![7; body]);
    [(frame.len() as i32).to_be_bytes().to_vec(), frame].concat()
}

fn answer(correlation_id: i32, body: usize) -> Vec<u8> {
    let frame = [correlation_id.to_be_bytes().to_vec(), vec![7; body]].concat();
    [(frame.len() as i32).to_be_bytes().to_vec(), frame].concat()
}

/// Feeds the stream in pieces as a pump does: what is understood is delivered, the rest kept.
fn marks(part: Part, exchange: &Exchange, bytes: &[u8], pieces: &[usize]) -> Vec<Mark> {
    let (mut scan, mut marks) = (Scan::new(part), VecDeque::new());
    let (mut delivered, mut received) = (0usize, 0usize);
    for size in pieces.iter().copied().chain([bytes.len()]) {
        received = (received + size).min(bytes.len());
        let kept = &bytes[delivered..received];
        delivered = scan.read(delivered as u64, kept, exchange, &mut marks) as usize;
        assert!(delivered <= received);
    }
    assert_eq!(delivered, bytes.len());
    marks.into()
}

proptest! {
    #[test]
    fn frames_are_found_however_the_bytes_arrive(
        bodies in prop::collection::vec(0usize..40, 1..8),
        pieces in prop::collection::vec(0usize..50, 0..20),
    ) {
        let exchange = Exchange::default();
        let (mut bytes, mut wanted) = (Vec::new(), Vec::new());
        for (number, body) in bodies.iter().enumerate() {
            let at = bytes.len() as u64;
            bytes.extend(request(number as i16, number as i32, "probe", *body));
            let (api_key, correlation_id) = (number as i16, number as i32);
            let head = Some(Head { api_key, version: 3, correlation_id });
            wanted.push(Mark { at, end: bytes.len() as u64, head });
        }
        prop_assert_eq!(marks(Part::Request, &exchange, &bytes, &pieces), wanted);
        prop_assert_eq!(exchange.client_id(), Some("probe".to_owned()));
    }

    #[test]
    fn garbage_never_panics_and_passes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (mut scan, mut marks) = (Scan::new(Part::Request), VecDeque::new());
        let upto = scan.read(0, &bytes, &Exchange::default(), &mut marks);
        prop_assert!(upto <= bytes.len() as u64);
    }
}

#[test]
fn an_answer_bears_its_requests_api_and_unanswered_requests_are_passed_over() {
    let exchange = Exchange::default();
    let asked = [request(0, 1, "", 5), request(1, 2, "", 5)].concat();
    marks(Part::Request, &exchange, &asked, &[]);
    let found = marks(Part::Answer, &exchange, &[answer(2, 3), answer(9, 0)].concat(), &[1, 6]);
    assert_eq!(found[0].head.map(|head| head.api_key), Some(1));
    assert_eq!(found[1].head, None);
}

#[test]
fn bytes_that_are_no_frames_pass_unread() {
    let (mut scan, mut marks) = (Scan::new(Part::Request), VecDeque::new());
    let bytes = [0xff; 30];
    assert_eq!(scan.read(0, &bytes, &Exchange::default(), &mut marks), 30);
    assert_eq!(scan.read(30, &bytes, &Exchange::default(), &mut marks), 60);
    assert!(marks.is_empty());
}

#[test]
fn requests_that_are_never_answered_are_forgotten_in_the_end() {
    let exchange = Exchange::default();
    for number in 0..ASKED_AT_MOST as i32 + 5 {
        exchange.ask(Head { api_key: 0, version: 3, correlation_id: number });
    }
    assert_eq!(exchange.lock().len(), ASKED_AT_MOST);
    assert_eq!(exchange.answered(4), None, "the oldest went first");
    let last = ASKED_AT_MOST as i32 + 4;
    assert_eq!(exchange.answered(last).map(|head| head.correlation_id), Some(last));
}
