//! Blocks of producer ids (rule 46).

use super::machine::Controller;
use super::reply::ProducerIdBlock;
use crate::error::Refusal;
use crate::metadata::Record;
use crate::metadata::record::ProducerIdsRecord;
use crate::rule::producer_ids::BLOCK_LEN;
use crate::types::{BrokerEpoch, BrokerId};

impl Controller {
    pub(super) fn allocate_producer_ids(
        &mut self,
        broker: BrokerId,
        broker_epoch: BrokerEpoch,
    ) -> Result<ProducerIdBlock, Refusal> {
        self.check_epoch(broker, broker_epoch)?;
        let first = self.image.next_producer_id;
        let next_producer_id = (self.rules.after_block)(first);
        let record = ProducerIdsRecord { broker, broker_epoch, next_producer_id };
        self.write(Record::ProducerIds(record));
        Ok(ProducerIdBlock { first, len: BLOCK_LEN })
    }
}
