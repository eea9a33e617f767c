//! What goes wrong, drawn from the seed.

use highwater_broker::Input;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use super::checks::Checked;
use super::client::Client;
use super::host::{BROKERS, CONTROLLER, SESSION_MS, peers};
use super::net::{PipeId, Place};
use super::world::{Event, World};

/// A fault, or the end of one.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Something is to go wrong, and later something else.
    Strike,
    /// No more: everything is healed.
    End,
    Start(Place),
    Resume(Place),
    Heal(Vec<(Place, Place)>),
    Fast(Place),
    FastDisk(Place),
}

impl World {
    pub fn strike(&mut self, fault: Fault) -> Checked {
        match fault {
            Fault::Strike if self.faults_over => Ok(()),
            Fault::Strike => {
                let pause = self.rng.random_range(30..450);
                self.schedule_ms(pause, Event::Fault(Fault::Strike));
                self.break_something()
            }
            Fault::End => self.heal_all(),
            Fault::Start(place) => self.start(place),
            Fault::Resume(place) if self.is_paused(place) => self.resume(place),
            Fault::Resume(_) => Ok(()),
            Fault::Heal(ways) => {
                for (from, to) in ways {
                    self.net.heal(from, to);
                }
                self.unpark();
                Ok(())
            }
            Fault::Fast(place) => {
                self.net.slow.remove(&place);
                Ok(())
            }
            Fault::FastDisk(place) => {
                self.host(place).slow_disk = false;
                Ok(())
            }
        }
    }

    fn break_something(&mut self) -> Checked {
        let broker = *BROKERS.choose(&mut self.rng).expect("there are brokers");
        match self.rng.random_range(0..21) {
            0..4 => self.kill_for_a_while(broker),
            4 => self.kill_for_a_while(CONTROLLER),
            5..7 => self.stop(broker)?,
            7..10 => self.pause(broker),
            10 => self.pause(CONTROLLER),
            11..13 => self.isolate(broker),
            13..16 => self.cut_one_link(broker),
            16 => self.move_leaders(1),
            17 => self.slow_down(broker),
            18 => self.move_unseen(broker),
            _ => self.reset_some(),
        }
        Ok(())
    }

    fn lasting_ms(&mut self) -> u64 {
        self.rng.random_range(20..1_300)
    }

    fn kill_for_a_while(&mut self, place: Place) {
        if self.hosts[&place].process.is_some() {
            self.kill(place);
            let ms = self.lasting_ms();
            self.schedule_ms(ms, Event::Fault(Fault::Start(place)));
        }
    }

    fn stop(&mut self, place: Place) -> Checked {
        if self.hosts[&place].is_running() { self.input(place, Input::Shutdown) } else { Ok(()) }
    }

    fn pause(&mut self, place: Place) {
        if self.hosts[&place].is_running() {
            self.host(place).paused = true;
            let ms = self.lasting_ms();
            self.schedule_ms(ms, Event::Fault(Fault::Resume(place)));
        }
    }

    /// Cuts a broker from all others, or from some, while its clients stay with it.
    fn isolate(&mut self, place: Place) {
        let mut others: Vec<Place> = peers(place).into_iter().collect();
        others.shuffle(&mut self.rng);
        let count = self.rng.random_range(1..=others.len());
        let ways = others[..count].iter().flat_map(|other| [(place, *other), (*other, place)]);
        self.cut(ways.collect());
    }

    /// Cuts one direction, to or from a broker or the controller.
    fn cut_one_link(&mut self, place: Place) {
        let others: Vec<Place> = peers(place).into_iter().collect();
        let other = *others.choose(&mut self.rng).expect("a broker has peers");
        let way = if self.rng.random() { (place, other) } else { (other, place) };
        self.cut(vec![way]);
    }

    fn cut(&mut self, ways: Vec<(Place, Place)>) {
        for (from, to) in &ways {
            self.net.cut(*from, *to);
        }
        let ms = self.lasting_ms();
        self.schedule_ms(ms, Event::Fault(Fault::Heal(ways)));
    }

    /// Moves leaderships to and fro while a broker hears nothing from the controller: it takes in
    /// all of it at once, and late.
    fn move_unseen(&mut self, place: Place) {
        let way = (CONTROLLER, place);
        self.net.cut(way.0, way.1);
        let ms = self.rng.random_range(100..SESSION_MS);
        self.schedule_ms(ms, Event::Fault(Fault::Heal(vec![way])));
        let moves = self.rng.random_range(2..5);
        self.move_leaders(moves);
    }

    fn move_leaders(&mut self, moves: usize) {
        for index in 0..self.seats.len() {
            if let Client::Admin(admin) = &mut self.seats[index].client {
                admin.move_leaders(moves);
                self.sleep(index, 0);
            }
        }
    }

    fn slow_down(&mut self, place: Place) {
        let ms = self.lasting_ms();
        if self.rng.random() {
            self.net.slow.insert(place);
            self.schedule_ms(ms, Event::Fault(Fault::Fast(place)));
        } else {
            self.host(place).slow_disk = true;
            self.schedule_ms(ms, Event::Fault(Fault::FastDisk(place)));
        }
    }

    /// Resets some connections: requests and answers that are under way are lost.
    fn reset_some(&mut self) {
        let open: Vec<PipeId> =
            self.net.pipes.iter().filter(|(_, pipe)| !pipe.lost).map(|(id, _)| *id).collect();
        for _ in 0..3 {
            if let Some(pipe) = open.choose(&mut self.rng) {
                self.reset(*pipe);
            }
        }
    }

    fn heal_all(&mut self) -> Checked {
        self.faults_over = true;
        self.net.heal_all();
        self.net.slow.clear();
        self.unpark();
        for place in BROKERS.into_iter().chain([CONTROLLER]) {
            self.host(place).slow_disk = false;
            if self.is_paused(place) {
                self.resume(place)?;
            }
            self.start(place)?;
        }
        Ok(())
    }

    fn is_paused(&self, place: Place) -> bool {
        self.hosts[&place].paused
    }

    fn host(&mut self, place: Place) -> &mut super::host::Host {
        self.hosts.get_mut(&place).expect("faults name hosts")
    }
}
