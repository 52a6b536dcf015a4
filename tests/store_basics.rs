//! The fear: what was written is not what is read.

use tfrmap::{
    Access, BuildStatus, DatasetWriter, IndexBuilder, MissingIndex, OpenOptions, RecordReader, Store,
};

fn payloads() -> Vec<Vec<u8>> {
    (0..500_usize).map(|i| (0..i * 7 % 1000).map(|j| (i + j) as u8).collect()).collect()
}

#[test]
fn written_records_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.tfrecord");
    let payloads = payloads();
    let mut writer = DatasetWriter::create(&path).unwrap();
    payloads.iter().for_each(|payload| writer.write(payload).unwrap());
    assert!(!path.exists());
    assert_eq!(writer.finish().unwrap().shards().collect::<Vec<_>>(), [path.as_path()]);
    assert!(folder.path().join(".tfrmap/train.tfrecord.tfri").exists());

    let streamed: Vec<_> = RecordReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(streamed, payloads);
    for access in [Access::Auto, Access::Map, Access::Read] {
        for missing in [MissingIndex::Fail, MissingIndex::InMemory] {
            let store =
                Store::open_with(&OpenOptions::new().access(access).missing_index(missing), &path).unwrap();
            assert_eq!(store.len(), 500);
            let mut buf = Vec::new();
            for (i, payload) in payloads.iter().enumerate().rev() {
                assert_eq!(store.get(i as u64).unwrap().as_bytes(), payload);
                store.read_into(i as u64, &mut buf).unwrap();
                assert_eq!(&buf, payload);
            }
            assert!(store.get(500).is_err());
            let numbers: Vec<u64> = (0..1100).map(|i| i * 317 % 501).collect();
            assert_eq!(store.get_many(&numbers).count(), numbers.len());
            for (&i, record) in numbers.iter().zip(store.get_many(&numbers)) {
                match payloads.get(i as usize) {
                    Some(payload) => assert_eq!(record.unwrap().as_bytes(), payload),
                    None => assert_eq!(record.unwrap_err().record(), store.get(i).unwrap_err().record()),
                }
            }
            store.verify().unwrap();
        }
    }
    let reports = IndexBuilder::new().build(std::slice::from_ref(&path), |_| {});
    assert_eq!((reports[0].status, reports[0].records), (BuildStatus::Fresh, 500));
}
