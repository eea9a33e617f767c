//! Several answers that come one by one, and what follows when all are there.

use std::sync::{Arc, Mutex};

use crate::kernel::Then;
use crate::node::Node;

/// A place for each of several answers.
#[derive(Clone)]
pub(crate) struct Gather<T>(Arc<Mutex<State<T>>>);

struct State<T> {
    answers: Vec<Option<T>>,
    missing: usize,
    then: Option<Then<Vec<T>>>,
}

impl<T: Send + 'static> Gather<T> {
    /// Waits for `count` answers; `then` gets them in order, at once when there are none to come.
    pub(crate) fn begin(
        node: &mut Node,
        count: usize,
        then: impl FnOnce(&mut Node, Vec<T>) + Send + 'static,
    ) -> Gather<T> {
        let mut state = State { answers: Vec::new(), missing: count, then: None };
        if count == 0 {
            then(node, Vec::new());
        } else {
            state.answers.resize_with(count, || None);
            state.then = Some(Box::new(then));
        }
        Gather(Arc::new(Mutex::new(state)))
    }

    /// The answer for this place has come.
    pub(crate) fn give(&self, node: &mut Node, place: usize, answer: T) {
        if let Some((then, answers)) = self.put(place, answer) {
            then(node, answers);
        }
    }

    fn put(&self, place: usize, answer: T) -> Option<(Then<Vec<T>>, Vec<T>)> {
        let mut state = self.0.lock().expect("one thread runs the node");
        let before = state.answers[place].replace(answer);
        debug_assert!(before.is_none(), "each answer comes once");
        state.missing -= 1;
        if state.missing > 0 {
            return None;
        }
        let answers = state.answers.drain(..).flatten().collect();
        Some((state.then.take()?, answers))
    }
}
