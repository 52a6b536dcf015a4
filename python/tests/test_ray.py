"""Fear: Ray Data reads one file with one task, or loses rows where it is split."""

import pytest
from conftest import SMALL

ray = pytest.importorskip("ray", reason="Ray is not installed: NOTHING of tfrmap.ray is tested")
pytest.importorskip("pyarrow", reason="pyarrow is not installed: NOTHING of tfrmap.ray is tested")

import tfrmap.ray  # noqa: E402

import tfrmap.ray  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    yield
    ray.shutdown()


def test_one_file_becomes_many_tasks_and_no_row_is_lost(tmp_path):
    path = tmp_path / "one"
    with tfrmap.Writer(path) as writer:
        for i in range(100):
            writer.write({"id": i, "text": f"t{i}", "n": list(range(i % 3))})
    source = tfrmap.ray.datasource(path)
    tasks = source.get_read_tasks(7)
    assert [task.metadata.num_rows for task in tasks] == [14, 14, 14, 15, 14, 14, 15]
    assert len(source.get_read_tasks(1000)) == 100
    dataset = ray.data.read_datasource(source, override_num_blocks=7)
    assert dataset.count() == 100
    rows = sorted(dataset.take_all(), key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(range(100))
    assert [row["text"] for row in rows] == [b"t%d" % i for i in range(100)]
    assert [list(row["n"]) for row in rows] == [list(range(i % 3)) for i in range(100)]


def test_pictures_stay_encoded_unless_a_spec_says_otherwise(pictures):
    rows = ray.data.read_datasource(tfrmap.ray.datasource(pictures)).take_all()
    assert len(rows) == 23 and all(row["image/encoded"].startswith(b"\x89PNG") for row in rows)
    decoded = ray.data.read_datasource(tfrmap.ray.datasource(pictures, features=SMALL))
    assert sum(batch["image/encoded"].shape[0] for batch in decoded.iter_batches(batch_size=8)) == 23
    assert next(iter(decoded.iter_batches(batch_size=8)))["image/encoded"].shape[1:] == (12, 10, 3)
