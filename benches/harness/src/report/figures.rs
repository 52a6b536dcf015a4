//! What the keys of figures are called in tables, and how their values are written.

/// Key, heading, decimals, and whether more is better.
const KNOWN: &[(&str, &str, usize, bool)] = &[
    ("images_per_s", "images/s", 0, true),
    ("steady_images_per_s", "steady images/s", 0, true),
    ("records_per_s", "records/s", 0, true),
    ("steady_records_per_s", "steady records/s", 0, true),
    ("gb_per_s", "GB/s", 2, true),
    ("first_batch_ms", "first batch ms", 1, false),
    ("first_batch_from_start_ms", "from process start ms", 0, false),
    ("open_ms", "open ms", 2, false),
    ("build_ms", "build ms", 1, false),
    ("us_per_record", "us a record", 2, false),
    ("cpu_us_per_record", "CPU us a record", 0, false),
    ("peak_rss_mb", "peak RSS MB", 0, false),
    ("peak_anonymous_mb", "anonymous MB", 0, false),
    ("peak_file_mb", "file pages MB", 0, false),
    ("growth_mb_per_epoch", "growth MB an epoch", 2, false),
    ("state_bytes", "state bytes", 0, false),
    ("resume_ms", "resume ms", 1, false),
    ("index_bytes", "index bytes", 0, false),
    ("displacement_percent", "displacement % (ideal 33.3)", 1, true),
    ("classes_in_128", "classes in 128 records (ideal 120.2)", 1, true),
    ("neighbours_kept_percent", "neighbours kept %", 3, false),
    ("first_position_ms", "first record ms", 2, false),
    ("open_ms_by_size", "open, ms", 2, false),
    ("ns_per_position_by_size", "position to record, ns", 0, false),
    ("ns_per_position", "ns a position", 0, false),
    ("other_load_cores", "other load, cores", 2, false),
];

fn known(key: &str) -> Option<&'static (&'static str, &'static str, usize, bool)> {
    KNOWN.iter().find(|(known, ..)| *known == key)
}

/// The heading of `key`.
pub fn heading(key: &str) -> &str {
    known(key).map_or(key, |(_, heading, ..)| heading)
}

/// Whether more of `key` is better; unknown figures are costs.
pub fn more_is_better(key: &str) -> bool {
    known(key).is_some_and(|(.., more)| *more)
}

/// `value` of `key`, with thousands set apart.
pub fn written(key: &str, value: f64) -> String {
    let decimals = known(key).map_or(2, |(_, _, decimals, _)| *decimals);
    number(value, decimals)
}

/// `value` with a fixed number of decimals and commas between thousands.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

/// `value` with at most two decimals, and none from 100 on: for axes and lists.
pub fn short(value: f64) -> String {
    if value.abs() >= 100.0 { number(value, 0) } else { format!("{}", (value * 100.0).round() / 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(number(1234567.891, 1), "1,234,567.9");
        assert_eq!(number(-999.0, 0), "-999");
        assert_eq!(number(1000.0, 0), "1,000");
    }
}
