//! The fear: a release, a machine or a clean-up silently changes everybody's training order.
//!
//! The values were computed by an independent program from the description in `src/order.rs`.

use tfrmap::{ORDER_VERSION, Order};

/// (records, seed, epoch, the first records, the last record)
type Golden = (u64, u64, u64, &'static [u64], u64);

#[rustfmt::skip]
const GOLDEN: &[Golden] = &[
    (1, 0, 0, &[0], 0),
    (1, 7, 3, &[0], 0),
    (1, u64::MAX, u64::MAX, &[0], 0),
    (2, 0, 0, &[0, 1], 1),
    (2, 7, 3, &[1, 0], 0),
    (2, u64::MAX, u64::MAX, &[1, 0], 0),
    (10, 0, 0, &[2, 5, 0, 6, 9, 1], 8),
    (10, 7, 3, &[0, 4, 9, 6, 7, 1], 3),
    (10, u64::MAX, u64::MAX, &[9, 4, 5, 0, 7, 6], 1),
    (65535, 0, 0, &[35984, 46425, 62414, 13021, 14032, 21848], 53965),
    (65535, 7, 3, &[44968, 45967, 22210, 30385, 17604, 40412], 21564),
    (65535, u64::MAX, u64::MAX, &[6268, 17548, 31215, 9313, 43334, 31979], 8894),
    (65536, 0, 0, &[14944, 56, 12388, 60285, 7108, 657], 8895),
    (65536, 7, 3, &[19097, 33376, 60763, 28725, 41680, 55087], 56715),
    (65536, u64::MAX, u64::MAX, &[4020, 22666, 37485, 15851, 44420, 49766], 29488),
    (65537, 0, 0, &[14698, 56, 38262, 21001, 40337, 38012], 9442),
    (65537, 7, 3, &[25121, 50989, 61103, 9189, 6671, 20367], 14781),
    (65537, u64::MAX, u64::MAX, &[8664, 6197, 37485, 50088, 57559, 58509], 3824),
    (4294967295, 0, 0, &[3135313231, 1224438997, 3197994951, 513606283, 1971818924, 273740351], 140186766),
    (4294967295, 7, 3, &[1254232264, 384656427, 167295381, 3896288005, 3364635639, 1757624193], 339627781),
    (4294967295, u64::MAX, u64::MAX, &[170158930, 651351803, 645703730, 1854047627, 4098710129, 2029411301], 1360142711),
    (4294967296, 0, 0, &[3135313231, 1224438997, 3197994951, 513606283, 1971818924, 273740351], 2393817100),
    (4294967296, 7, 3, &[1254232264, 384656427, 167295381, 3896288005, 3364635639, 1757624193], 1543031970),
    (4294967296, u64::MAX, u64::MAX, &[170158930, 651351803, 645703730, 1854047627, 4098710129, 2029411301], 2604230448),
    (4294967297, 0, 0, &[4214513784, 987856679, 363477324, 1527496310, 3787031158, 3523191095], 1878075332),
    (4294967297, 7, 3, &[2243208417, 384609741, 167295381, 337563900, 3028005586, 3314639769], 1254232264),
    (4294967297, u64::MAX, u64::MAX, &[1037162512, 2412644605, 3186768591, 63304381, 4098784544, 1691995184], 4190798608),
    (1099511627776, 0, 0, &[300513879632, 671472871950, 985445766409, 590850227639, 390126992603, 325150506152], 844416754077),
    (1099511627776, 7, 3, &[265191342909, 323677036297, 42512191150, 359413134728, 177020188, 413800576907], 998508271549),
    (1099511627776, u64::MAX, u64::MAX, &[995872848021, 97081010181, 600178254661, 575333048516, 677451618237, 640692351687], 707759120259),
];

#[test]
fn orders_are_frozen() {
    assert_eq!(ORDER_VERSION, 1, "another version needs golden values of its own");
    for &(len, seed, epoch, first, last) in GOLDEN {
        let order = Order::shuffled(len, seed, epoch);
        let got: Vec<u64> = (0..first.len() as u64).map(|position| order.at(position)).collect();
        assert_eq!(
            (got.as_slice(), order.at(len - 1)),
            (first, last),
            "n = {len}, seed = {seed}, epoch = {epoch}"
        );
    }
}

#[test]
fn every_record_comes_exactly_once() {
    let large: &[u64] = if cfg!(miri) { &[1000] } else { &[1000, 65_535, 65_536, 65_537, 100_003] };
    for len in (0..if cfg!(miri) { 20 } else { 200 }).chain(large.iter().copied()) {
        for (seed, epoch) in [(0, 0), (u64::MAX, 3)] {
            let order = Order::shuffled(len, seed, epoch);
            let mut seen = vec![false; len as usize];
            for position in 0..len {
                let record = order.at(position) as usize;
                assert!(!std::mem::replace(&mut seen[record], true), "n = {len}: record {record} twice");
            }
        }
    }
}

#[test]
fn positions_of_billions_stay_within_bounds_and_apart() {
    let many = if cfg!(miri) { 50 } else { 50_000 };
    for len in [(1 << 32) - 1, 1 << 32, (1 << 32) + 1, 1 << 40, (1 << 63) + 11, u64::MAX] {
        let order = Order::shuffled(len, 9, 1);
        let mut seen: Vec<u64> = (0..many).map(|i| order.at(i * (len / many))).collect();
        seen.push(order.at(len - 1));
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "n = {len}: a record twice");
        assert!(*seen.last().unwrap() < len);
    }
}

#[test]
fn empty_and_sequential_orders_are_plain() {
    assert!(Order::shuffled(0, 1, 1).is_empty());
    assert_eq!(Order::shuffled(1, 1, 1).at(0), 0);
    let order = Order::sequential(5);
    assert_eq!((0..5).map(|p| order.at(p)).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(order.len(), 5);
}

#[test]
#[should_panic(expected = "position 5 of an order of 5")]
fn a_position_past_the_end_is_a_bug_of_the_caller() {
    Order::shuffled(5, 0, 0).at(5);
}
