//! How others have clients dropped while the driver runs them.

use tokio::sync::{mpsc, oneshot};

use crate::fleet::{Crashed, Victims};

/// Somebody wants clients to crash; the answer tells which did.
pub(super) type Order = (Victims, oneshot::Sender<Vec<Crashed>>);

/// Lets clients crash. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Crasher(mpsc::UnboundedSender<Order>);

/// What the driver hears the orders by.
#[derive(Debug)]
pub struct Orders(pub(super) mpsc::UnboundedReceiver<Order>);

impl Crasher {
    /// A crasher, and what a driver hears it by.
    pub fn new() -> (Crasher, Orders) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Crasher(sender), Orders(receiver))
    }

    /// Drops clients at once; none are left to drop when the driver has ended.
    pub async fn crash(&self, victims: Victims) -> Vec<Crashed> {
        let (answer, gone) = oneshot::channel();
        if self.0.send((victims, answer)).is_err() {
            return Vec::new();
        }
        gone.await.unwrap_or_default()
    }
}
