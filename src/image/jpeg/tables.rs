//! The tables that scans use, ready for use.

use super::Error;
use super::frame::{COEFFICIENTS, Frame};
use super::huffman::{AcTable, Class, DcTable, Spec, Table, standard};
use super::leaps::Leaps;
use super::markers::{Reader, ScanHeader};

/// Huffman tables by number, with what each was made from: most files repeat those of the file before.
pub(super) struct Tables {
    dc: [Ready<DcTable>; 4],
    ac: [Ready<AcTable>; 4],
    leaps: [Leaps; 4],
}

/// A table, and what it was made from.
type Ready<T> = (Option<(Spec, Class)>, T);

/// Blocks to pass over that make up for the time to make leaps.
const WORTH_LEAPS: u64 = 1000;

impl Tables {
    pub(super) fn new() -> Tables {
        Tables {
            dc: std::array::from_fn(|_| (None, Table::empty())),
            ac: std::array::from_fn(|_| (None, Table::empty())),
            leaps: std::array::from_fn(|_| Leaps::new()),
        }
    }

    /// Makes the tables ready that a scan uses. Errors where one is missing or bogus.
    pub(super) fn prepare(
        &mut self,
        reader: &Reader<'_>,
        frame: &Frame,
        header: &ScanHeader,
    ) -> Result<(), Error> {
        let needs_dc = !frame.progressive || header.first == 0 && header.high == 0;
        let needs_ac = !frame.progressive || header.first > 0;
        let ac = if frame.progressive { Class::Ac } else { Class::AcPairs };
        for part in header.parts() {
            if needs_dc {
                prepare(&mut self.dc, &reader.dc, part.dc_table, Class::Dc, header.offset)?;
            }
            if needs_ac {
                prepare(&mut self.ac, &reader.ac, part.ac_table, ac, header.offset)?;
            }
        }
        Ok(())
    }

    /// Makes the leaps of a scan's AC tables ready, which are, unless that costs more than to decode as many `blocks`.
    /// Returns whether they are.
    pub(super) fn prepare_leaps(&mut self, header: &ScanHeader, blocks: u64) -> bool {
        header.parts().iter().all(|part| {
            let index = usize::from(part.ac_table & 3);
            let (Some((spec, _)), leaps) = (&self.ac[index].0, &mut self.leaps[index]) else { return false };
            if !leaps.are_of(spec) && blocks >= WORTH_LEAPS {
                leaps.make(spec);
            }
            leaps.are_of(spec)
        })
    }

    /// The leaps of this number.
    #[inline(always)]
    pub(super) fn leaps(&self, ac: usize) -> &Leaps {
        &self.leaps[ac]
    }

    /// The DC and the AC table of these numbers.
    #[inline(always)]
    pub(super) fn get(&self, dc: usize, ac: usize) -> (&DcTable, &AcTable) {
        (&self.dc[dc].1, &self.ac[ac].1)
    }
}

fn prepare<const LOOKUP: usize>(
    ready: &mut [Ready<Table<LOOKUP>>; 4],
    specs: &[Option<Spec>; 4],
    index: u8,
    class: Class,
    offset: usize,
) -> Result<(), Error> {
    let index = usize::from(index);
    let spec = specs.get(index).and_then(Option::as_ref);
    let spec = spec.ok_or_else(|| Error::malformed("missing Huffman table", offset))?;
    let (made_from, table) = &mut ready[index];
    if made_from.as_ref().is_none_or(|(s, c)| (s, *c) != (spec, class)) {
        *made_from = None;
        table.build(spec, class, offset)?;
        *made_from = Some((spec.clone(), class));
    }
    Ok(())
}

/// Puts the standard Huffman tables where a sequential file defines none.
pub(super) fn fill_in(reader: &mut Reader<'_>) {
    let [dc0, dc1, ac0, ac1] = standard();
    reader.dc[0].get_or_insert(dc0);
    reader.dc[1].get_or_insert(dc1);
    reader.ac[0].get_or_insert(ac0);
    reader.ac[1].get_or_insert(ac1);
}

/// The quantisation tables of the components, in natural order; None before a component's first scan.
pub(super) type Quant = [Option<[u16; COEFFICIENTS]>; 4];

/// Remembers the quantisation tables of the components that a scan is the first to hold: later ones under the same
/// number do not count for them.
pub(super) fn latch_quant(
    reader: &Reader<'_>,
    frame: &Frame,
    header: &ScanHeader,
    quant: &mut Quant,
) -> Result<(), Error> {
    for part in header.parts() {
        if quant[part.index].is_none() {
            let index = usize::from(frame.components()[part.index].quant_index);
            let table = reader.quant.get(index).copied().flatten();
            quant[part.index] =
                Some(table.ok_or_else(|| Error::malformed("missing quantisation table", header.offset))?);
        }
    }
    Ok(())
}
