//! Fear: pictures are packed, shown, checked or decoded wrongly.

mod common;

use common::{World, jpeg, png};
use serde_json::json;
use tfrmap::{Dataset, Example, ExampleBuilder};

/// Two classes of three pictures, an odd one and things that are none.
fn photos(world: &World) {
    for i in 0..3u8 {
        world.write(format!("photos/daisy/{i}.jpg"), jpeg(60 + u32::from(i), 40, [200, 10 * i, 0]));
        world.write(format!("photos/rose/{i}.png"), png(30, 50, [0, 10 * i, 200]));
    }
    world.write("photos/rose/broken.jpg", &jpeg(80, 80, [1, 2, 3])[..300]);
    world.write("photos/rose/notes.txt", "no picture");
    world.write("photos/rose/.hidden", "no picture");
    world.write("photos/README.txt", "about");
    world.write("photos/lost.png", png(5, 5, [0, 0, 0]));
}

#[test]
fn packing_keeps_bytes_and_reports_odd_pictures() {
    let world = World::new();
    photos(&world);
    let run = world.tfr("pack photos --out train --shards 2 --json").exits(0);
    let lines = run.json();
    let odd: Vec<&str> = lines[..lines.len() - 1].iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(odd, ["photos/rose/broken.jpg", "photos/rose/notes.txt", "photos/lost.png"]);
    let last = run.last();
    assert_eq!((&last["written"], &last["skipped"], &last["classes"]), (&json!(6), &json!(3), &json!(2)));
    assert_eq!(world.read("train.labels.txt"), b"0:daisy\n1:rose\n");
    let dataset = Dataset::open(world.path("train")).unwrap();
    let record = dataset.get(5).unwrap();
    let example = Example::parse(&record).unwrap();
    let bytes = |key: &str| example.get(key).unwrap().bytes().next().unwrap().to_vec();
    let number = |key: &str| example.get(key).unwrap().int64s().next().unwrap();
    assert_eq!(bytes("image/encoded"), world.read("photos/rose/2.png"));
    assert_eq!(bytes("image/format"), b"PNG");
    assert_eq!(bytes("image/class/text"), b"rose");
    assert_eq!(bytes("image/filename"), b"2.png");
    assert_eq!([number("image/height"), number("image/width"), number("image/class/label")], [50, 30, 1]);
    world.tfr("pack photos --out train --shards 2").exits(2);
    world.tfr("verify train --decode").exits(0);
}

#[test]
fn packing_by_a_csv_with_numbers_or_names() {
    let world = World::new();
    photos(&world);
    world.write("numbers.csv", "path,label\ndaisy/1.jpg,7\n\"rose/0.png\",-2\n");
    world.tfr("pack photos --labels numbers.csv --out n").exits(0);
    let labels = |path: &str| -> Vec<i64> {
        let dataset = Dataset::open(world.path(path)).unwrap();
        let label = |i| {
            let record = dataset.get(i).unwrap();
            Example::parse(&record).unwrap().get("image/class/label").unwrap().int64s().next().unwrap()
        };
        (0..dataset.len()).map(label).collect()
    };
    assert_eq!(labels("n"), [7, -2]);
    world.write("names.csv", "rose/0.png,zebra\ndaisy/0.jpg,ant\nnot/there.png,ant\n");
    let run = world.tfr("pack photos --labels names.csv --out m --json").exits(0);
    assert_eq!(labels("m"), [1, 0]);
    assert_eq!(run.json()[0]["path"], "photos/not/there.png");
    assert_eq!(world.read("m.labels.txt"), b"0:ant\n1:zebra\n");
    world.write("bad.csv", "just a path\n");
    let run = world.tfr("pack photos --labels bad.csv --out b").exits(2);
    assert!(run.err.contains("bad.csv: line 1"), "{}", run.err);
}

#[test]
fn re_encoding_makes_the_short_side_so_long_and_tells_the_gain() {
    let world = World::new();
    world.write("photos/a/large.png", png(400, 200, [90, 120, 200]));
    world.write("photos/a/small.png", png(30, 20, [90, 120, 200]));
    let run = world.tfr("pack photos --out r --resize 50 --quality 80 --json").exits(0);
    assert!(run.last()["bytes_in"].is_u64() && run.last()["bytes_out"].is_u64());
    let dataset = Dataset::open(world.path("r")).unwrap();
    let size = |i: u64| {
        let record = dataset.get(i).unwrap();
        let example = Example::parse(&record).unwrap();
        let encoded = example.get("image/encoded").unwrap().bytes().next().unwrap();
        let picture = tfrmap::image::decode(encoded, &tfrmap::image::DecodeOptions::default()).unwrap();
        let stored = |key| example.get(key).unwrap().int64s().next().unwrap() as u32;
        assert_eq!([picture.height, picture.width], [stored("image/height"), stored("image/width")]);
        let corner = [picture.pixels[0], picture.pixels[1], picture.pixels[2]];
        assert!(corner.iter().zip([90u8, 120, 200]).all(|(a, b)| a.abs_diff(b) < 12), "{corner:?}");
        [picture.height, picture.width]
    };
    assert_eq!(size(0), [50, 100]);
    assert_eq!(size(1), [20, 30], "a picture that is small enough stays as it is");
    assert!(world.tfr("pack photos --out q --quality 50").exits(0).out.contains("re-encoded"));
}

#[test]
fn a_seed_mixes_the_classes() {
    let world = World::new();
    for i in 0..20 {
        world.write(format!("p/a/{i:02}.png"), png(4, 4, [0, 0, i]));
        world.write(format!("p/b/{i:02}.png"), png(4, 4, [9, 0, i]));
    }
    world.tfr("pack p --out m --seed 1").exits(0);
    world.tfr("pack p --out n --seed 1").exits(0);
    world.tfr("pack p --out o").exits(0);
    assert_eq!(world.read("m"), world.read("n"));
    assert_ne!(world.read("m"), world.read("o"));
    assert_eq!(Dataset::open(world.path("m")).unwrap().len(), 40);
}

/// Records of pictures, of which number 1 is cut, number 3 empty and number 4 gzip.
fn damaged(world: &World) {
    let whole = jpeg(64, 48, [200, 30, 30]);
    let record =
        |encoded: &[u8]| ExampleBuilder::new().image(encoded, "PNG", 48, 64).label(3).text("fish").encode();
    let payloads = [
        record(&whole),
        record(&whole[..whole.len() / 2]),
        record(&png(10, 10, [1, 2, 3])),
        record(b""),
        record(&common::gzip(&whole)),
        record(&whole),
    ];
    world.tfrecord("pics", payloads);
}

#[test]
fn verify_finds_every_damaged_picture_and_copy_leaves_them_out() {
    let world = World::new();
    damaged(&world);
    world.tfr("verify pics").exits(0);
    let run = world.tfr("verify pics --decode --json --list bad.jsonl").exits(1);
    let lines = run.json();
    let bad: Vec<u64> = lines[..3].iter().map(|line| line["record"].as_u64().unwrap()).collect();
    assert_eq!(bad, [1, 3, 4]);
    for line in &lines[..3] {
        assert_eq!((&line["kind"], &line["feature"]), (&json!("ImageDecode"), &json!("image/encoded")));
        assert!(line["offset"].is_u64());
    }
    assert_eq!(run.last(), json!({ "records": 6, "good": 3, "bad": 3 }));
    let text = world.tfr("verify pics --decode").exits(1).out;
    assert!(text.contains("6 records in 1 file") && text.contains("3  ImageDecode"), "{text}");
    let run = world.tfr("copy pics --out good --skip bad.jsonl --json").exits(0);
    assert_eq!(run.last(), json!({ "written": 3, "skipped": 3 }));
    world.tfr("verify good --decode").exits(0);
}

#[test]
fn schema_notices_pictures_whose_format_is_wrong() {
    let world = World::new();
    damaged(&world);
    let image = &world.tfr("schema --json pics").exits(0).last()["features"]["image/encoded"]["image"];
    assert_eq!(image["formats"], json!({ "jpeg": 3, "png": 1 }));
    assert_eq!(image["mislabelled"], 3);
    assert_eq!(image["width"], json!({ "min": 10, "max": 64 }));
    assert!(world.tfr("schema pics").exits(0).out.contains("the stored format is wrong for 3 pictures"));
}

#[test]
fn a_preview_shows_what_can_be_shown_and_names_the_rest() {
    let world = World::new();
    damaged(&world);
    let run = world.tfr("preview pics --out sheet.png --json").exits(1);
    assert_eq!(run.last(), json!({ "out": "sheet.png", "images": 3, "skipped": 3 }));
    assert!(run.err.contains("pics: record 1 at byte"), "{}", run.err);
    let sheet = image::load_from_memory(&world.read("sheet.png")).unwrap().to_rgb8();
    let red = |pixel: &image::Rgb<u8>| pixel.0[0] > 170 && pixel.0[1] < 60 && pixel.0[2] < 60;
    let count = sheet.pixels().filter(|pixel| red(pixel)).count();
    assert!(count > 20_000, "the red pictures are not on the sheet: {count}");
    world.tfr("preview pics --out sheet.png").exits(2);
    world.tfr("preview pics --out sheet.jpg --count 2 --seed 1").exits(1);
    world.tfr("preview pics --out sheet.gif").exits(2);
    assert_eq!(world.read("sheet.jpg")[..2], [0xff, 0xd8]);
    world.tfrecord("numbers", (0..3).map(common::numbered));
    let run = world.tfr("preview numbers --out n.png").exits(1);
    assert!(run.err.contains("no feature holds a picture"), "{}", run.err);
}

#[test]
fn a_batch_is_the_same_each_time_and_on_any_number_of_threads() {
    let world = World::new();
    photos(&world);
    world.tfr("pack photos --out t").exits(0);
    let run = |threads: &str, out: &str| {
        let mut command =
            world.command(["batch", "t", "--batch-size", "4", "--seed", "7", "--epoch", "2", "--out", out]);
        assert!(command.env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
        world.read(out)
    };
    let one = run("1", "a.npz");
    assert_eq!(one, run("2", "b.npz"));
    assert_eq!(&one[..2], b"PK");
    let line = world.tfr("batch t --batch-size 4 --out c.npz --json").exits(0).last();
    assert_eq!(line["columns"]["image/encoded"], json!({ "dtype": "float32", "shape": [4, 224, 224, 3] }));
    assert_eq!(line["columns"]["image/class/label"], json!({ "dtype": "int64", "shape": [4] }));
    let rest = world.tfr("batch t --batch-size 4 --skip-batches 1 --out d.npz --json").exits(0).last();
    assert_eq!(rest["rows"], 2);
    // The printed spec is one that can be given.
    let spec = world.tfr("schema t --spec json").exits(0).out;
    world.write("spec.json", spec);
    world.tfr("batch t --batch-size 4 --out e.npz --spec spec.json").exits(0);
    assert_eq!(world.read("c.npz"), world.read("e.npz"));
}

#[test]
fn one_label_that_is_no_number_does_not_renumber_the_others() {
    let world = World::new();
    for name in ["a.png", "b.png", "c.png"] {
        world.write(format!("photos/{name}"), png(8, 8, [1, 2, 3]));
    }
    for odd in ["", "x", "1.0", "99999999999999999999"] {
        world.write("rows.csv", format!("a.png,10\nb.png,2\nc.png,{odd}\n"));
        world.tfr("pack photos --labels rows.csv --out out").exits(2);
        assert!(!world.exists("out"));
    }
    world.write("rows.csv", "path,label\na.png,10\nb.png,2\nc.png,-3\n");
    world.tfr("pack photos --labels rows.csv --out out").exits(0);
    assert_eq!(world.read("out.labels.txt"), b"-3:\n2:\n10:\n");
}
