//! Clients in the world: their connections, their sleeps, and what they tell.

use bytes::Bytes;
use highwater_broker::ConnId;
use rand::RngExt;

use super::checks::Checked;
use super::client::{self, Action, Client};
use super::net::{End, Payload, PipeId, Place};
use super::world::{Event, World};

/// A client and its connection.
pub struct Seat {
    pub client: Client,
    pub place: Place,
    pipe: Option<(Place, PipeId)>,
    /// The request whose answer is waited for; timers of others are over.
    asking: Option<u64>,
    /// The sleep that is on.
    sleep: u64,
}

impl World {
    pub fn add_client(&mut self, client: Client) {
        let index = self.seats.len();
        let place = Place(101 + index as i32);
        self.seats.push(Seat { client, place, pipe: None, asking: None, sleep: 0 });
        self.sleep(index, 0);
    }

    pub fn deliver_to_client(&mut self, index: usize, pipe: PipeId, payload: Payload) -> Checked {
        let seat = &mut self.seats[index];
        if seat.pipe.is_none_or(|(_, known)| known != pipe) {
            return Ok(());
        }
        match payload {
            Payload::Frame(frame) => {
                seat.asking = None;
                self.tell_client(index, client::Input::Answer(frame))
            }
            Payload::Closed | Payload::Opened(false) => {
                seat.pipe = None;
                seat.asking = None;
                self.tell_client(index, client::Input::Lost)
            }
            Payload::Opened(true) | Payload::Open { .. } => Ok(()),
        }
    }

    fn tell_client(&mut self, index: usize, input: client::Input) -> Checked {
        let actions = self.seats[index].client.step(self.now, input, &mut self.rng);
        for action in actions {
            self.do_for_client(index, action)?;
        }
        Ok(())
    }

    fn do_for_client(&mut self, index: usize, action: Action) -> Checked {
        match action {
            Action::Send { to, frame, answered } => self.client_sends(index, to, frame, answered),
            Action::Sleep { ms } => self.sleep(index, ms),
            Action::Acked { partition, offset, values, acks } => {
                return self.checks.acked(partition, offset, &values, acks);
            }
            Action::Read { partition, offset, epoch, value } => {
                return self.checks.read(partition, offset, epoch, value);
            }
            Action::RepeatRefused { partition, value, by, sent } => {
                return self.checks.repeat_refused(partition, value, (by, sent));
            }
            Action::TopicReady => self.topic_ready = true,
        }
        Ok(())
    }

    pub fn sleep(&mut self, index: usize, ms: u64) {
        self.next_serial += 1;
        let serial = self.next_serial;
        self.seats[index].sleep = serial;
        self.schedule_ms(ms, Event::Client { index, serial });
    }

    fn client_sends(&mut self, index: usize, to: Place, frame: Bytes, answered: bool) {
        let open = self.seats[index].pipe.filter(|(known, _)| *known == to);
        let pipe = open.map_or_else(|| self.connect(index, to), |(_, pipe)| pipe);
        self.send(pipe, 1, Payload::Frame(frame));
        if answered {
            self.next_serial += 1;
            let serial = self.next_serial;
            self.seats[index].asking = Some(serial);
            let ms = self.seats[index].client.timeout_ms();
            self.schedule_ms(ms, Event::Timeout { index, serial });
        } else {
            let ms = self.rng.random_range(1..40);
            self.sleep(index, ms);
        }
    }

    fn connect(&mut self, index: usize, to: Place) -> PipeId {
        self.disconnect(index);
        let from = End { place: self.seats[index].place, run: 0, conn: ConnId(0) };
        let pipe = self.net.add(from, to);
        self.seats[index].pipe = Some((to, pipe));
        self.send(pipe, 1, Payload::Open { listener: "PLAINTEXT" });
        pipe
    }

    fn disconnect(&mut self, index: usize) {
        self.seats[index].asking = None;
        if let Some((_, pipe)) = self.seats[index].pipe.take() {
            self.send(pipe, 1, Payload::Closed);
        }
    }

    /// A sleep is over, unless another one came after it.
    pub fn wake_client(&mut self, index: usize, serial: u64) -> Checked {
        if self.seats[index].sleep == serial {
            return self.tell_client(index, client::Input::Wake);
        }
        Ok(())
    }

    /// An answer did not come in time, unless it came meanwhile.
    pub fn time_out(&mut self, index: usize, serial: u64) -> Checked {
        if self.seats[index].asking == Some(serial) {
            self.disconnect(index);
            return self.tell_client(index, client::Input::Lost);
        }
        Ok(())
    }
}
