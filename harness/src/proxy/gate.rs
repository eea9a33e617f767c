//! Decides how far the bytes of one direction may go under the rules on its link.

use std::{sync::Arc, time::Duration};

use std::time::Instant;

use super::{
    Action, Link, Part,
    rule::{ActiveRule, RuleTable},
    stream::Stream,
};

/// The longest that one burst of a bandwidth limit lasts.
const BURST: Duration = Duration::from_millis(10);

/// How far bytes may go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowed {
    /// Position before which bytes may leave.
    pub(super) upto: u64,
    /// When to ask again, if no rule changes and nothing arrives before.
    pub(super) wake: Option<Instant>,
}

/// What became of the rules that were obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing that ends the connection.
    GoOn,
    /// A rule went that withheld bytes of this connection and discards them.
    Reset,
}

/// The rules on one direction of one connection.
#[derive(Debug)]
pub(super) struct Gate {
    part: Part,
    obeyed: Vec<Obeyed>,
}

#[derive(Debug)]
struct Obeyed {
    rule: Arc<ActiveRule>,
    /// Position up to which withheld bytes were counted.
    counted: u64,
    /// Whether it withheld bytes of this connection.
    touched: bool,
    /// When a bandwidth limit lets the next bytes go.
    next: Option<Instant>,
}

impl Gate {
    pub(super) fn new(part: Part) -> Self {
        Self { part, obeyed: Vec::new() }
    }

    /// Takes over the rules that are in force on `link` now.
    pub(super) fn refresh(&mut self, table: &RuleTable, link: Link) -> Change {
        let lost = self.obeyed.iter().filter(|obeyed| obeyed.lost()).collect::<Vec<_>>();
        lost.iter().for_each(|obeyed| obeyed.rule.count_reset());
        let change = if lost.is_empty() { Change::GoOn } else { Change::Reset };
        self.obeyed.retain(|obeyed| !obeyed.rule.gone());
        for rule in table.on(link) {
            if !self.obeyed.iter().any(|obeyed| Arc::ptr_eq(&obeyed.rule, &rule)) {
                self.obeyed.push(Obeyed { rule, counted: 0, touched: false, next: None });
            }
        }
        change
    }

    /// How far the stream may go under every rule; what a rule withholds is counted as its proof.
    pub(super) fn allow(&mut self, stream: &Stream, now: Instant) -> Allowed {
        let mut allowed = Allowed { upto: stream.understood(), wake: None };
        for obeyed in &mut self.obeyed {
            let one = obeyed.allow(self.part, stream, now);
            obeyed.count(stream, one.upto);
            allowed.upto = allowed.upto.min(one.upto);
            allowed.wake = [allowed.wake, one.wake].into_iter().flatten().min();
        }
        allowed
    }

    /// Takes note that bytes left, for the bandwidth limits.
    pub(super) fn sent(&mut self, bytes: usize, now: Instant) {
        for obeyed in &mut self.obeyed {
            if let Action::Slow { bytes_per_s: Some(rate), .. } = obeyed.rule.rule.action {
                let from = obeyed.next.unwrap_or(now).max(now);
                obeyed.next = Some(from + Duration::from_secs_f64(bytes as f64 / rate as f64));
            }
        }
    }

    /// Whether the end of the stream is withheld as its bytes are.
    pub(super) fn withholds_end(&self) -> bool {
        self.obeyed.iter().any(|obeyed| match obeyed.rule.rule.action {
            Action::Cut => true,
            Action::LoseAnswers => self.part == Part::Answer,
            Action::Slow { .. } | Action::Hold { .. } => false,
        })
    }
}

impl Obeyed {
    fn lost(&self) -> bool {
        self.touched && self.rule.gone() && self.rule.discards()
    }

    fn allow(&self, part: Part, stream: &Stream, now: Instant) -> Allowed {
        let all = Allowed { upto: stream.understood(), wake: None };
        let none = Allowed { upto: stream.delivered(), wake: None };
        match self.rule.rule.action {
            Action::Cut => none,
            Action::LoseAnswers if part == Part::Answer => none,
            Action::LoseAnswers => all,
            Action::Hold { api_key, part: held } if held == part => {
                let mut held = stream.marks().filter(|mark| {
                    mark.at >= stream.delivered() && mark.head.is_some_and(|h| h.api_key == api_key)
                });
                held.next().map_or(all, |mark| Allowed { upto: mark.at, wake: None })
            }
            Action::Hold { .. } => all,
            Action::Slow { delay_ms, bytes_per_s } => self.slow(stream, now, delay_ms, bytes_per_s),
        }
    }

    fn slow(&self, stream: &Stream, now: Instant, delay_ms: u64, rate: Option<u64>) -> Allowed {
        if let Some(next) = self.next.filter(|next| *next > now) {
            return Allowed { upto: stream.delivered(), wake: Some(next) };
        }
        let delay = Duration::from_millis(delay_ms);
        let (mut upto, later) = match now.checked_sub(delay) {
            Some(then) => stream.arrived_by(then),
            None => (stream.delivered(), Some(now)),
        };
        if let Some(rate) = rate {
            let burst = (rate as f64 * BURST.as_secs_f64()) as u64;
            upto = upto.min(stream.delivered() + burst.max(1));
        }
        let upto = upto.min(stream.understood());
        Allowed { upto, wake: later.map(|came| came + delay) }
    }

    fn count(&mut self, stream: &Stream, upto: u64) {
        let from = self.counted.max(upto);
        let to = stream.received();
        if from < to {
            self.touched = true;
            self.rule.count_withheld((to - from) as usize, stream.frames_in(from, to));
            self.counted = to;
        }
    }
}

#[cfg(test)]
mod tests;
