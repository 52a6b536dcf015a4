//! Fear: what people and scripts read changes without anybody noticing.

mod common;

use common::{World, frames, jpeg, numbered};
use tfrmap::ExampleBuilder;

fn world() -> World {
    let world = World::new();
    world.tfrecord("set/s-00000-of-00002", (0..3).map(numbered));
    world.tfrecord("set/s-00001-of-00002", (3..5).map(numbered));
    world.write("torn", &frames((0..3).map(numbered))[..100]);
    let example = ExampleBuilder::new()
        .bytes("b", b"\xff\x00\x10".to_vec())
        .floats("f", [0.1, -0.0, f32::INFINITY, f32::NAN])
        .int64s("i", [i64::MIN, 7])
        .bytes("t", "say \"hi\"\n")
        .encode();
    world.tfrecord("kinds", [example]);
    world
}

#[track_caller]
fn same(actual: &str, expected: &str) {
    assert_eq!(actual, expected, "\n--- printed:\n{actual}\n--- expected:\n{expected}");
}

#[test]
fn build() {
    let world = world();
    same(
        &world.tfr("build set torn").exits(1).out,
        "built    set/s-00000-of-00002  3 records, 141 B\n\
         built    set/s-00001-of-00002  2 records, 94 B\n\
         failed   torn  2 records, 100 B\n",
    );
    let run = world.tfr("build --json set torn").exits(1);
    same(
        &run.out.lines().take(2).collect::<Vec<_>>().join("\n"),
        r#"{"path":"set/s-00000-of-00002","records":3,"bytes":141,"status":"fresh","error":null,"kind":null}
{"path":"set/s-00001-of-00002","records":2,"bytes":94,"status":"fresh","error":null,"kind":null}"#,
    );
    assert!(run.err.starts_with("error: torn: record 2 at byte 94: the file ends inside"), "{}", run.err);
}

#[test]
fn info() {
    let world = world();
    same(
        &world.tfr("info set").exits(0).out,
        "5 records in 2 files, 235 B\n\
         payloads: 155 B in all; smallest 31 B, mean 31 B, largest 31 B\n\
         3  141 B  index missing  set/s-00000-of-00002\n\
         2   94 B  index missing  set/s-00001-of-00002\n\
         no index: `tfr-index build` makes opening instant\n",
    );
    world.tfr("build set").exits(0);
    same(
        &world.tfr("info --json set").exits(0).out,
        r#"{"records":5,"payload_bytes":155,"record_bytes":{"min":31,"mean":31.0,"max":31},"shards":[{"path":"set/s-00000-of-00002","records":3,"bytes":141,"index":"fresh","error":null,"kind":null},{"path":"set/s-00001-of-00002","records":2,"bytes":94,"index":"fresh","error":null,"kind":null}]}
"#,
    );
}

#[test]
fn get() {
    let world = world();
    same(
        &world.tfr("get kinds 0").exits(0).out,
        "record 0 of 1, 85 bytes\n\
         kinds: record 0 at byte 0\n\
         b  bytes  1  ff0010\n\
         f  float  4  0.1, -0, inf, NaN\n\
         i  int64  2  -9223372036854775808, 7\n\
         t  bytes  1  \"say \\\"hi\\\"\\n\"\n",
    );
    same(
        &world.tfr("get --json kinds 0").exits(0).out,
        r#"{"index":0,"path":"kinds","record":0,"offset":0,"length":85,"payload":"Example","features":{"b":{"kind":"bytes","count":1,"values":[{"length":3,"hex":"ff0010"}]},"f":{"kind":"float","count":4,"values":[0.1,-0.0,"inf","nan"]},"i":{"kind":"int64","count":2,"values":[-9223372036854775808,7]},"t":{"kind":"bytes","count":1,"values":[{"length":9,"text":"say \"hi\"\n"}]}}}
"#,
    );
    same(&world.tfr("get kinds 0 --feature i").exits(0).out, "-9223372036854775808\n7\n");
    assert_eq!(world.tfr("get kinds 0 --feature b").exits(0).bytes, b"\xff\x00\x10");
    let run = world.tfr("get kinds 0 --feature z").exits(1);
    same(
        &run.err,
        "error: kinds: record 0 at byte 0, feature \"z\": not in this record; it has b, f, i, t\n",
    );
    let run = world.tfr("get --json kinds 1").exits(2);
    same(
        &run.out,
        r#"{"error":{"path":null,"record":null,"offset":null,"kind":"InvalidArgument","feature":null,"message":"kinds: there is no record 1; there are 1, counted from 0"}}
"#,
    );
    same(&run.err, "error: kinds: there is no record 1; there are 1, counted from 0\n");
    same(
        world.tfr("get set 4").exits(0).out.lines().nth(1).unwrap(),
        "set/s-00001-of-00002: record 1 at byte 47",
    );
}

#[test]
fn schema() {
    let world = world();
    same(
        &world.tfr("schema set").exits(0).out,
        "Example  (5 of 5 records looked at)\n\
         id     int64  always  1 value\n\
         label  int64  always  1 value\n\
         \n\
         # Rust\n\
         Features::new()\n    \
             .fixed_len::<i64>(\"id\", [])\n    \
             .fixed_len::<i64>(\"label\", [])\n\
         \n\
         # JSON (for --spec)\n\
         {\n  \
           \"id\": {\"fixed_len\":{\"dtype\":\"int64\",\"shape\":[]}},\n  \
           \"label\": {\"fixed_len\":{\"dtype\":\"int64\",\"shape\":[]}}\n\
         }\n\
         \n\
         # TensorFlow\n\
         features = {\n    \
             \"id\": tf.io.FixedLenFeature([], tf.int64),\n    \
             \"label\": tf.io.FixedLenFeature([], tf.int64),\n\
         }\n\
         \n\
         # DALI\n\
         features = {\n    \
             \"id\": tfrec.FixedLenFeature([1], tfrec.int64, 0),\n    \
             \"label\": tfrec.FixedLenFeature([1], tfrec.int64, 0),\n\
         }\n",
    );
    same(
        &world.tfr("schema --json set").exits(0).out,
        r#"{"records_scanned":5,"payload":"Example","features":{"id":{"kind":"int64","present":5,"unset":0,"count":{"min":1,"max":1},"kinds":{"int64":5},"image":null},"label":{"kind":"int64","present":5,"unset":0,"count":{"min":1,"max":1},"kinds":{"int64":5},"image":null}},"spec":{"id":{"fixed_len":{"dtype":"int64","shape":[]}},"label":{"fixed_len":{"dtype":"int64","shape":[]}}}}
"#,
    );
}

#[test]
fn the_spec_in_rust_is_the_one_the_library_takes() {
    let world = World::new();
    let record =
        ExampleBuilder::new().bytes_list("names", ["a", "b"]).bytes_list(*b"\xff", ["c"]).int64("id", 1);
    world.tfrecord("data", [record.encode()]);
    let features = tfrmap::Features::new()
        .fixed_len::<i64>("id", [])
        .var_len::<Vec<u8>>("names")
        .var_len::<Vec<u8>>(*b"\xff");
    same(&world.tfr("schema data --spec rust").exits(0).out, &format!("{features}\n"));
}

#[test]
fn schema_notices_drift() {
    let world = World::new();
    world.tfrecord(
        "drift",
        [
            ExampleBuilder::new().int64("x", 1).encode(),
            ExampleBuilder::new().float("x", 1.0).encode(),
            ExampleBuilder::new().int64s("x", [1, 2, 3]).int64("y", 1).encode(),
        ],
    );
    let run = world.tfr("schema --json drift").exits(0);
    let x = &run.last()["features"]["x"];
    same(
        &x.to_string(),
        r#"{"kind":"mixed","present":3,"unset":0,"count":{"min":1,"max":3},"kinds":{"int64":2,"float":1},"image":null}"#,
    );
    let text = world.tfr("schema drift").exits(0).out;
    assert!(
        text.contains("look: x: the kind drifts (int64 in 2 records, float in 1 record), so it is left out"),
        "{text}"
    );
    assert!(text.contains("y  int64  in 1"), "{text}");
}

#[test]
fn verify() {
    let world = world();
    let mut bytes = frames((0..3).map(numbered));
    bytes[60] ^= 1;
    world.write("flip", bytes);
    same(
        &world.tfr("verify set flip").exits(1).out,
        "flip: record 1 at byte 47: the payload does not match its CRC; `tfr-index copy --skip-bad` leaves it out\n\
         8 records in 3 files, 376 B: 7 good, 1 bad\n\
         1  CorruptData\n\
         to leave them out: `verify --list bad.jsonl`, then `tfr-index copy PATH --out NEW --skip bad.jsonl`\n",
    );
    same(
        &world.tfr("verify --json flip").exits(1).out,
        r#"{"path":"flip","record":1,"offset":47,"kind":"CorruptData","feature":null,"message":"the payload does not match its CRC; `tfr-index copy --skip-bad` leaves it out"}
{"records":3,"good":2,"bad":1}
"#,
    );
}

#[test]
fn what_a_list_leaves_out_is_told_in_words() {
    let world = world();
    let mut bytes = frames((0..3).map(numbered));
    bytes[60] ^= 1;
    world.write("flip", bytes);
    let found = world.tfr("verify flip --list bad.jsonl").exits(1).out;
    assert!(
        found.ends_with("to leave them out: `tfr-index copy PATH --out NEW --skip bad.jsonl`\n"),
        "{found}"
    );
    let copied = world.tfr("copy flip --out good --skip bad.jsonl").exits(0);
    same(&copied.out, "2 records written to good, 1 left out\n");
    same(&copied.err, "warning: flip: record 1: left out as listed\n");
}

/// Lines of help that the library for arguments has to break stand apart from what they belong to.
#[test]
fn help_fits_a_line() {
    let world = world();
    for command in
        ["", "build", "info", "schema", "preview", "get", "verify", "batch", "export", "copy", "pack"]
    {
        let help = world.tfr(&format!("{command} --help")).exits(0).out;
        let examples = help.split("Examples:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        for line in examples.lines() {
            assert!(line.starts_with("  tfr-index "), "{command}: {line}");
        }
    }
}

#[test]
fn the_rest() {
    let world = world();
    same(
        &world.tfr("export set --format dali --out-dir idx").exits(0).out,
        "idx/s-00000-of-00002.idx: 3 records\nidx/s-00001-of-00002.idx: 2 records\n",
    );
    same(&world.tfr("copy set --out all").exits(0).out, "5 records written to all\n");
    same(&world.tfr("copy set --out b --shards 2").exits(0).out, "5 records written to 2 files b-*\n");
    same(&world.tfr("copy torn --out c --skip-bad").exits(0).out, "2 records written to c, 1 left out\n");
    same(&world.tfr("copy --json set --out d").exits(0).out, "{\"written\":5,\"skipped\":0}\n");
    world.write("photos/cat/1.jpg", jpeg(20, 10, [9, 9, 9]));
    same(&world.tfr("pack photos --out t").exits(0).out, "1 picture of 1 class written, 0 left out\n");
    same(
        &world.tfr("batch t --batch-size 1 --out b.npz --json").exits(0).out,
        r#"{"out":"b.npz","columns":{"image/class/label":{"dtype":"int64","shape":[1]},"image/class/text":{"dtype":"bytes","shape":[1,null]},"image/encoded":{"dtype":"float32","shape":[1,224,224,3]},"image/filename":{"dtype":"bytes","shape":[1,null]},"image/format":{"dtype":"bytes","shape":[1,null]},"image/height":{"dtype":"int64","shape":[1]},"image/width":{"dtype":"int64","shape":[1]}},"rows":1}
"#,
    );
    same(&world.tfr("preview t --out s.png").exits(0).out, "s.png: 1 picture\n");
}
