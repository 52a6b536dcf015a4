//! The fear: a value is refused or cut at a limit of the past: protocol buffers were once held to 64 MB.

use tfrmap::{Dataset, DatasetWriter, Example, ExampleBuilder, Features, RecordReader};

const FLOATS: usize = 17_500_000;

#[test]
fn a_feature_of_70_megabytes_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut writer = DatasetWriter::create(&path).unwrap();
    writer.write(&ExampleBuilder::new().floats("v", [1.5]).encode()).unwrap();
    let zeros = std::iter::repeat_n(0.0, FLOATS);
    writer.write(&ExampleBuilder::new().floats("v", zeros).int64("label", 7).encode()).unwrap();
    writer.write(&ExampleBuilder::new().floats("v", [2.5]).encode()).unwrap();
    let dataset = writer.finish().unwrap();

    let record = dataset.get(1).unwrap();
    assert!(record.len() > 4 * FLOATS);
    let example = Example::parse(&record).unwrap();
    let values = example.get("v").unwrap();
    assert_eq!(values.len(), FLOATS);
    assert!(values.floats().all(|value| value == 0.0));
    assert_eq!(example.get("label").unwrap().int64s().collect::<Vec<_>>(), [7]);

    let ragged = Features::new().var_len::<f32>("v");
    let batch = dataset.with_features(ragged).batches(3).next().unwrap().unwrap();
    let column = batch.column("v").unwrap();
    assert_eq!(column.row_lengths().unwrap(), [1, FLOATS, 1]);
    let values = column.get::<f32>().unwrap();
    assert_eq!((values[0], values[FLOATS + 1]), (1.5, 2.5));
    assert!(values[1..=FLOATS].iter().all(|value| *value == 0.0));

    let fixed = Features::new().fixed_len::<f32>("v", [FLOATS]);
    let only = Dataset::open(&path).unwrap().select([1]).unwrap().with_features(fixed);
    let batch = only.batches(1).next().unwrap().unwrap();
    assert_eq!(batch.column("v").unwrap().shape().unwrap(), [1, FLOATS]);
}

#[test]
fn records_about_64_megabytes_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let lens = [(1 << 26) - 1, 1 << 26, (1 << 26) + 1];
    let mut writer = DatasetWriter::create(&path).unwrap();
    for len in lens {
        // Key, lengths and tags take what is left.
        let around = ExampleBuilder::new().bytes("v", vec![1; 1 << 25]).encode().len() - (1 << 25);
        let payload = ExampleBuilder::new().bytes("v", vec![1; len - around]).encode();
        assert_eq!(payload.len(), len);
        writer.write(&payload).unwrap();
    }
    let dataset = writer.finish().unwrap();
    for ((i, streamed), len) in (0..).zip(RecordReader::open(&path).unwrap()).zip(lens) {
        let record = dataset.get(i).unwrap();
        assert!(streamed.unwrap() == *record);
        let example = Example::parse(&record).unwrap();
        let value = example.get("v").unwrap().bytes().next().unwrap();
        assert!(value.len() > len - 64 && value.iter().all(|byte| *byte == 1));
    }
}
