//! The first records of a new log, and the controller's own registration.

use super::machine::Controller;
use crate::metadata::Record;
use crate::metadata::record::{FeatureLevelRecord, RegisterControllerRecord};

impl Controller {
    /// Writes the levels that a new cluster starts at when the log holds none, and the own
    /// registration when it changed.
    pub(super) fn bootstrap(&mut self, own: RegisterControllerRecord) {
        if self.image.features.is_empty() {
            for FeatureLevelRecord { name, level } in self.settings.initial_features.clone() {
                self.write(Record::FeatureLevel(FeatureLevelRecord { name, level }));
            }
        }
        if self.image.controllers.get(&own.controller) != Some(&own) {
            self.write(Record::RegisterController(own));
        }
    }
}
