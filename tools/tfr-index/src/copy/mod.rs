//! The work behind `copy`: inputs of any state, read in order or at random, in bounded memory.

mod input;
mod random;
mod sequential;
mod stage;

pub use input::{Found, Input, Kind};
pub use random::{Place, Shuffled};
pub use sequential::{Delivery, deliver};
pub use stage::Staged;
