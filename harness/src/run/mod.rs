//! The run engine: from options to a run folder that can be judged.

pub mod args;
pub mod asks;
mod clients;
mod complaints;
mod disk_guard;
mod ending;
pub mod engine;
pub mod evidence;
pub mod fail;
mod hooks;
mod interrupt;
mod judge;
mod lag;
mod manifest;
mod needs;
mod observers;
mod play;
mod recover;
pub mod sampler;
pub mod setup;
#[cfg(test)]
mod tests;
pub mod tidy;
mod ui;
mod world;

pub use args::{HistoryFormatOption, RunArgs};
pub use engine::{Asked, execute};
pub use fail::Failure;
pub use interrupt::Interrupts;
pub use judge::judge;
pub use setup::{BadOption, Setup};
pub use ui::Ui;
pub use world::{drawn, new_run_id};

/// The commit that this program was built from.
pub const COMMIT: &str = env!("HIGHWATER_COMMIT");
