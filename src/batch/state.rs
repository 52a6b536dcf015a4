//! Where a run stands: what is saved to go on later.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::order::ORDER_VERSION;

/// The version of the state's own format.
const STATE_VERSION: u64 = 1;

/// Where a run stands, to be saved (under 200 bytes of JSON) and [resumed](crate::Batches::resume) from.
///
/// All ranks have the same state after the same number of steps, and it can be resumed with another number of ranks, batch
/// size or threads: the records that are left come in the same global order, each once.
///
/// ```
/// # fn main() -> tfrmap::Result<()> {
/// use tfrmap::State;
///
/// let text = r#"{"version":1,"order_version":1,"fingerprint":"00f1e2d3c4b5a697","seed":7,"epoch":3,"position":1280}"#;
/// let state = State::from_json(text)?;
/// assert_eq!((state.epoch(), state.position()), (3, 1280));
/// assert_eq!(state.to_json(), text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    order_version: u64,
    fingerprint: u64,
    seed: Option<u64>,
    epoch: u64,
    position: u64,
}

impl State {
    pub(crate) fn new(fingerprint: u64, seed: Option<u64>, epoch: u64, position: u64) -> State {
        State { order_version: u64::from(ORDER_VERSION), fingerprint, seed, epoch, position }
    }

    /// The epoch of the next record.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The position in the epoch's global order up to which all ranks together have read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        let mut object = Map::new();
        object.insert("version".into(), STATE_VERSION.into());
        object.insert("order_version".into(), self.order_version.into());
        object.insert("fingerprint".into(), format!("{:016x}", self.fingerprint).into());
        object.insert("seed".into(), self.seed.into());
        object.insert("epoch".into(), self.epoch.into());
        object.insert("position".into(), self.position.into());
        Value::Object(object).to_string()
    }

    /// Reads what [`to_json`](State::to_json) wrote.
    ///
    /// # Errors
    /// `StateMismatch` where the text is no such state, or one of another version.
    pub fn from_json(text: &str) -> Result<State> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| mismatch(format!("the state is no JSON: {error}")))?;
        let number = |name: &str| {
            value
                .get(name)
                .and_then(Value::as_u64)
                .ok_or_else(|| mismatch(format!("the state has no number \"{name}\"")))
        };
        let version = number("version")?;
        if version != STATE_VERSION {
            return Err(mismatch(format!(
                "the state has version {version}, this release reads version {STATE_VERSION}"
            )));
        }
        let fingerprint = value
            .get("fingerprint")
            .and_then(Value::as_str)
            .filter(|text| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|text| u64::from_str_radix(text, 16).ok())
            .ok_or_else(|| mismatch("the state has no fingerprint of 16 hexadecimal digits"))?;
        let seed = match value.get("seed") {
            None | Some(Value::Null) => None,
            Some(_) => Some(number("seed")?),
        };
        Ok(State {
            order_version: number("order_version")?,
            fingerprint,
            seed,
            epoch: number("epoch")?,
            position: number("position")?,
        })
    }

    /// Says why a state is not one of this data set, if it is not. `self` is the run's own first state.
    pub(crate) fn check(&self, saved: &State, len: u64) -> Result<()> {
        if saved.order_version != self.order_version {
            let (saved, own) = (saved.order_version, self.order_version);
            return Err(mismatch(format!("the state has order rules {saved}, this release has {own}")));
        }
        if saved.seed != self.seed {
            let name =
                |seed: Option<u64>| seed.map_or("no shuffle".to_owned(), |seed| format!("seed {seed}"));
            let (saved, own) = (name(saved.seed), name(self.seed));
            return Err(mismatch(format!("the state was saved with {saved}, the data set has {own}")));
        }
        if saved.fingerprint != self.fingerprint {
            return Err(mismatch(
                "the state was saved with other records, or other verbs (take, select, ..) were applied",
            ));
        }
        if saved.position > len {
            let position = saved.position;
            return Err(mismatch(format!("the state is at position {position}, but the data set has {len}")));
        }
        Ok(())
    }
}

pub(crate) fn mismatch(reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::StateMismatch, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_state_is_short_and_comes_back() {
        let state = State::new(u64::MAX, Some(u64::MAX), u64::MAX, u64::MAX);
        let text = state.to_json();
        assert!(text.len() < 200, "{} bytes", text.len());
        assert_eq!(State::from_json(&text).unwrap(), state);
        let sequential = State::new(0, None, 0, 0);
        assert_eq!(State::from_json(&sequential.to_json()).unwrap(), sequential);
    }

    #[test]
    fn what_is_no_state_is_refused_with_the_reason() {
        let good = State::new(1, Some(2), 3, 4).to_json();
        for (from, to, reason) in [
            ("\"version\":1", "\"version\":2", "version 2"),
            ("\"epoch\":3", "\"epoch\":-3", "epoch"),
            ("\"epoch\":3", "\"epoch\":\"3\"", "epoch"),
            ("\"position\":4", "\"place\":4", "position"),
            ("\"seed\":2", "\"seed\":2.5", "seed"),
            ("\"fingerprint\":\"", "\"fingerprint\":\"+", "fingerprint"),
            ("{", "", "JSON"),
        ] {
            let error = State::from_json(&good.replacen(from, to, 1)).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::StateMismatch);
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    #[test]
    fn a_state_of_something_else_is_refused_with_the_reason() {
        let own = State::new(1, Some(2), 0, 0);
        own.check(&State::new(1, Some(2), 9, 10), 10).unwrap();
        for (saved, reason) in [
            (State { order_version: 99, ..own.clone() }, "order rules 99"),
            (State::new(1, None, 0, 0), "no shuffle"),
            (State::new(1, Some(3), 0, 0), "seed 3"),
            (State::new(5, Some(2), 0, 0), "other records"),
            (State::new(1, Some(2), 0, 11), "position 11"),
        ] {
            let error = own.check(&saved, 10).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::StateMismatch);
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
