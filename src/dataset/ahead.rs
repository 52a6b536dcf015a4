//! Records that are read soon: looked up and fetched ahead, so that waits for memory overlap with work.

use crate::dataset::shards::Shards;
use crate::error::Result;
use crate::record::Located;

/// Records are looked ahead for so many at a time.
pub(crate) const GROUP: usize = 16;

/// Some records that a thread reads one after the other, as far as they are looked up.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    places: Vec<Place>,
    looked_up: usize,
}

#[derive(Debug)]
struct Place {
    record: u64,
    shard: usize,
    i: u64,
    located: Option<Located>,
}

impl Shards {
    /// Called before record `next` of `records` is read, each [`GROUP`] records: has the processor fetch the records after
    /// the next group, and the index entries of those after them.
    pub(crate) fn look_ahead<'r, R: 'r>(
        &self,
        records: &'r [R],
        number: impl Fn(&'r R) -> u64,
        next: usize,
        ahead: &mut Ahead,
    ) {
        if next == 0 {
            ahead.places.clear();
            ahead.looked_up = 0;
        }
        let known = ahead.places.len();
        let more = records.get(known..records.len().min(next + 3 * GROUP)).unwrap_or_default();
        ahead.places.extend(more.iter().map(|record| {
            let record = number(record);
            let (shard, i) = self.locate(record);
            self.stores()[shard].prefetch_index(i);
            Place { record, shard, i, located: None }
        }));
        let until = ahead.places.len().min(next + 2 * GROUP);
        for place in ahead.places.get_mut(ahead.looked_up..until).unwrap_or_default() {
            place.located = self.stores()[place.shard].look_up(place.i);
        }
        ahead.looked_up = until;
    }

    /// The payload of a record, verified, behind what is in `buf`. On error there may be anything behind it.
    ///
    /// It need not be record `next` of those looked ahead for, but costs less where it is.
    #[inline]
    pub(crate) fn append(&self, record: u64, next: usize, ahead: &Ahead, buf: &mut Vec<u8>) -> Result<()> {
        if let Some(place) = ahead.places.get(next)
            && place.record == record
            && let Some(located) = &place.located
        {
            return self.stores()[place.shard].append_located(located, buf);
        }
        let (shard, i) = self.locate(record);
        self.stores()[shard].append(i, buf)
    }
}
