//! The batches of all epochs, one after the other.

use std::ops::Range;
use std::sync::Arc;

use crate::batch::job::Row;
use crate::batch::steps::{Remainder, Steps};
use crate::dataset::ranks::Ranks;
use crate::dataset::view::{EpochOrder, View};

/// What a run reads: a view over epochs, as one rank's batches.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) view: Arc<View>,
    pub(crate) epochs: Range<u64>,
    pub(crate) ranks: Ranks,
    pub(crate) batch: u64,
    pub(crate) remainder: Remainder,
    /// The epoch and the position to start at.
    pub(crate) start: (u64, u64),
}

/// A place in the course: the next batch.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    course: Arc<Course>,
    epoch: Option<Arc<Epoch>>,
    step: u64,
}

#[derive(Debug)]
struct Epoch {
    number: u64,
    order: EpochOrder,
    steps: Steps,
    count: u64,
}

/// One batch to be made.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    epoch: Arc<Epoch>,
    step: u64,
}

impl Cursor {
    pub(crate) fn new(course: Arc<Course>) -> Cursor {
        let (number, position) = course.start;
        let epoch = course.epochs.contains(&number).then(|| Epoch::new(&course, number, position));
        Cursor { course, epoch, step: 0 }
    }

    /// The next batch, if there is one.
    pub(crate) fn next(&mut self) -> Option<Ticket> {
        loop {
            let epoch = self.epoch.as_ref()?;
            if self.step < epoch.count {
                self.step += 1;
                return Some(Ticket { epoch: epoch.clone(), step: self.step - 1 });
            }
            // An epoch that was begun at its start and has no batch: no other one has.
            let next = epoch.number + 1;
            let barren = epoch.count == 0 && epoch.steps.position_after(0) == 0;
            let goes_on = !barren && self.course.epochs.contains(&next);
            self.epoch = goes_on.then(|| Epoch::new(&self.course, next, 0));
            self.step = 0;
        }
    }
}

impl Epoch {
    fn new(course: &Course, number: u64, position: u64) -> Arc<Epoch> {
        let order = course.view.order(number);
        let steps = Steps::new(order.len(), position, course.batch, course.ranks, course.remainder);
        let count = steps.count();
        Arc::new(Epoch { number, order, steps, count })
    }
}

impl Ticket {
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.number
    }

    /// Where all ranks stand after this batch.
    pub(crate) fn position_after(&self) -> u64 {
        self.epoch.steps.position_after(self.step + 1)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.epoch.steps.rows(self.step)
    }

    pub(crate) fn row(&self, row: u64) -> Row {
        let place = self.epoch.steps.place(self.step, row);
        Row { record: self.epoch.order.at(place.position), place }
    }
}
