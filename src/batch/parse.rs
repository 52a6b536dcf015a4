//! Records that are already in memory, as columns.

use crate::batch::assemble::assemble;
use crate::batch::column::Column;
use crate::error::Result;
use crate::example::Features;
use crate::example::plan::Plan;
use crate::example::row::{ColumnRows, Walked};

impl Features {
    /// The columns of payloads that are already in memory, in the order of the features: `tf.io.parse_example`. Pictures
    /// are not decoded: their column holds the encoded bytes.
    ///
    /// # Errors
    /// Those of [`check`](Features::check); `MalformedProto`, `MissingFeature`, `WrongKind` and `WrongShape` with the
    /// number of the payload as the record; `WrongShape` where payloads differ in a size that they must share.
    ///
    /// ```
    /// use tfrmap::{ExampleBuilder, Features};
    ///
    /// let payloads = [7, 9].map(|label| ExampleBuilder::new().label(label).encode());
    /// let features = Features::new().fixed_len::<i64>("image/class/label", []);
    /// let (key, column) = features.parse(&payloads)?.remove(0);
    /// assert_eq!((key.as_slice(), &column.get::<i64>()?[..]), (&b"image/class/label"[..], &[7, 9][..]));
    /// # Ok::<(), tfrmap::Error>(())
    /// ```
    pub fn parse<P: AsRef<[u8]>>(&self, payloads: &[P]) -> Result<Vec<(Vec<u8>, Column)>> {
        let plan = Plan::new(self)?;
        let mut walked = Walked::default();
        let mut columns = vec![ColumnRows::default(); plan.columns().len()];
        for (i, payload) in payloads.iter().enumerate() {
            let payload = payload.as_ref();
            let mut read = || -> Result<()> {
                plan.walk(payload, &mut walked)?;
                for (c, rows) in columns.iter_mut().enumerate() {
                    plan.push(c, payload, &walked, rows)?;
                }
                Ok(())
            };
            read().map_err(|error| error.at_record(i as u64))?;
        }
        let columns = plan.columns().iter().zip(&columns);
        columns
            .map(|(column, rows)| Ok((column.key().to_vec(), assemble(column, &[rows], &[], 1)?)))
            .collect()
    }
}
