//! Records that are already in memory, as columns.

use crate::batch::assemble::assemble;
use crate::batch::column::{Column, Dense};
use crate::batch::values::ByteStrings;
use crate::error::Result;
use crate::example::Features;
use crate::example::plan::Plan;
use crate::example::row::RowValues;

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
        let mut rows = vec![RowValues::default(); payloads.len()];
        for (i, (row, payload)) in rows.iter_mut().zip(payloads).enumerate() {
            plan.extract(payload.as_ref(), row).map_err(|error| error.at_record(i as u64))?;
        }
        let borrowed: Vec<_> = rows.iter().map(Some).collect();
        let columns = plan.columns().iter().enumerate().map(|(i, column)| {
            let values = match assemble(i, column, &borrowed, 1)? {
                Some(values) => values,
                None => {
                    let pictures =
                        rows.iter().zip(payloads).map(|(row, payload)| row.image(i, payload.as_ref()));
                    let values = pictures.collect::<ByteStrings>().into();
                    Column::Dense(Dense { values, shape: vec![rows.len()], lengths: None })
                }
            };
            Ok((column.key().to_vec(), values))
        });
        columns.collect()
    }
}
