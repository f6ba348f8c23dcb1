"""Electrocardiograms: MATLAB files, WFDB records, and what is done to a lead."""

import io
from collections import Counter

import numpy as np
import pytest
from scipy.io import savemat

from timevista_hf.sources import read_series

TWELVE = ["i", "ii", "iii", "avr", "avl", "avf", "v1", "v2", "v3", "v4", "v5", "v6"]


def beats(seconds, rate, hertz=1.0):
    return np.sin(2 * np.pi * hertz * np.arange(seconds * rate) / rate)


def matlab(values, name="ecg"):
    file = io.BytesIO()
    savemat(file, {name: np.reshape(values, (-1, 1))})
    return file.getvalue()


def record(folder, signals, name="patient001/s1", rate=100, code="16", tail=""):
    """Write a record of format 16: signals are (description, gain, steps of the converter)."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    steps = np.stack([np.asarray(values) for *_, values in signals], axis=1)
    path.with_suffix(".dat").write_bytes(steps.astype("<i2").tobytes())
    lines = [f"{path.name} {len(signals)} {rate} {len(steps)}"]
    lines += [
        f"{path.name}.dat {code} {gain} 16 0 0 0 0 {described}" for described, gain, _ in signals
    ]
    path.with_suffix(".hea").write_text("\n".join(lines) + "\n# a comment\n" + tail)
    return folder


def noise(steps, seed=0):
    return np.random.default_rng(seed).integers(-2000, 2000, size=steps)


def test_a_recording_of_ten_seconds_gives_one_window_at_100_hertz(save_zip):
    members = {"Train/data/data_00001.mat": matlab(beats(10, 500)), "Train/ref/R_00001.mat": b""}
    [series] = read_series("cpsc2019", data_dir=save_zip("CPSC2019-train.zip", members))
    # A sine of whole periods is resampled without error.
    expected = beats(10, 100)
    np.testing.assert_allclose(series.history, expected[:500], atol=1e-12)
    np.testing.assert_allclose(series.truth, expected[500:600], atol=1e-12)
    assert (series.id, series.freq, series.start) == ("all/data_00001@500+100", "10ms", None)


def test_a_matlab_file_without_the_matrix_is_refused(save_zip):
    folder = save_zip("CPSC2019-train.zip", {"data_00001.mat": matlab(beats(1, 500), name="x")})
    with pytest.raises(ValueError, match=r"data_00001\.mat: holds no matrix `ecg`"):
        list(read_series("cpsc2019", data_dir=folder))


def test_steps_of_the_converter_become_millivolts(tmp_path):
    steps = noise(600)
    folder = record(tmp_path, [("v1", "2000(100)/mV", steps)])
    [series] = read_series("ptb", data_dir=folder)
    np.testing.assert_allclose(series.history, (steps[:500] - 100) / 2000, atol=1e-12)
    assert series.id == "all/patient001/s1/v1@500+100"


def test_the_leads_of_a_record_are_read_and_its_other_signals_passed_over(tmp_path):
    others = ["vx", "BP", "EEG (C4-A1)", "EOG (right)", "Resp (chest)", "SO2", "PLETH"]
    signals = [(name, "200/mV", noise(600, seed)) for seed, name in enumerate([*TWELVE, *others])]
    folder = record(tmp_path, signals)
    names = {series.provenance["series"] for series in read_series("ptb", data_dir=folder)}
    assert names == {f"patient001/s1/{name}" for name in TWELVE}


@pytest.mark.parametrize("name", ["ECG", "ECG lead II", "MLII", "V", "MCL1", "ECG1"])
def test_leads_of_monitors_are_known_by_their_names(tmp_path, name):
    folder = record(tmp_path, [(name, "200/mV", noise(600))], "set-p/100")
    assert len(list(read_series("rdbh", data_dir=folder))) == 1


def test_a_gain_of_zero_stands_for_200(tmp_path):
    steps = noise(600)
    [series] = read_series("ptb", data_dir=record(tmp_path, [("ii", "0", steps)]))
    np.testing.assert_allclose(series.truth, steps[500:] / 200, atol=1e-12)


def pack(steps):
    """Pack pairs of samples into three bytes: the low ones outside, both high parts between."""
    first, second = np.asarray(steps)[::2] & 0xFFF, np.asarray(steps)[1::2] & 0xFFF
    return np.stack([first & 0xFF, first >> 8 | (second >> 8) << 4, second & 0xFF], axis=1)


def test_format_212_packs_two_samples_into_three_bytes(tmp_path):
    steps = noise(600)
    assert pack([1, -1]).tolist() == [[0x01, 0xF0, 0xFF]]
    record(tmp_path, [("ii", "100/mV", steps)], code="212")
    (tmp_path / "patient001/s1.dat").write_bytes(pack(steps).astype(np.uint8).tobytes())
    [series] = read_series("ptb", data_dir=tmp_path)
    np.testing.assert_allclose(series.history, steps[:500] / 100, atol=1e-12)
    np.testing.assert_allclose(series.truth, steps[500:] / 100, atol=1e-12)


def test_an_odd_last_sample_of_format_212_is_read(tmp_path):
    steps = noise(602)
    record(tmp_path, [("ii", "100/mV", steps[:601])], code="212")
    (tmp_path / "patient001/s1.dat").write_bytes(pack(steps).astype(np.uint8).tobytes()[:-1])
    assert len(list(read_series("ptb", data_dir=tmp_path))) == 1


def test_signals_of_a_record_may_lie_in_two_files(tmp_path):
    first, second = noise(600, 1), noise(600, 2)
    record(tmp_path, [("vx", "1/mV", noise(600, 3)), ("vy", "1/mV", first)])
    (tmp_path / "patient001/s1.xyz").write_bytes(b"head" + second.astype("<i2").tobytes())
    header = tmp_path / "patient001/s1.hea"
    header.write_text(
        "s1 3 100 600\ns1.dat 16 1/mV 16 0 0 0 0 vx\ns1.dat 16 1/mV 16 0 0 0 0 i\n"
        "s1.xyz 16+4 1/mV 16 0 0 0 0 ii\n"
    )
    found = {one.provenance["series"]: one.history for one in read_series("ptb", data_dir=tmp_path)}
    np.testing.assert_allclose(found["patient001/s1/i"], first[:500], atol=1e-9)
    np.testing.assert_allclose(found["patient001/s1/ii"], second[:500], atol=1e-9)


def test_a_signal_of_several_samples_a_frame_has_a_rate_of_its_own(tmp_path):
    lead, other = noise(1200, 1), noise(600, 2)
    frames = np.column_stack([other, lead.reshape(-1, 2)])
    record(tmp_path, [("ii", "1/mV", noise(9))])
    (tmp_path / "patient001/s1.dat").write_bytes(frames.astype("<i2").tobytes())
    (tmp_path / "patient001/s1.hea").write_text(
        "s1 2 50 600\ns1.dat 16 1/mmHg 16 0 0 0 0 ABP\ns1.dat 16x2 1/mV 16 0 0 0 0 ii\n"
    )
    found = {one.provenance["start"]: one for one in read_series("ptb", data_dir=tmp_path)}
    # 600 frames of 1/50 s hold 1200 samples at 100 Hz: two windows.
    assert sorted(found) == [0, 500]
    np.testing.assert_allclose(found[0].history, lead[:500], atol=1e-9)


def test_a_window_with_a_gap_is_dropped_and_the_next_one_is_not(tmp_path):
    steps = noise(1100)
    steps[300:305] = -32768
    counts = Counter()
    folder = record(tmp_path, [("ii", "1/mV", steps)])
    [series] = read_series("ptb", data_dir=folder, counts=counts)
    assert series.provenance["start"] == 500
    assert counts == {"kept": 1, "missing": 1}


@pytest.mark.parametrize(("value", "reason"), [(-32768, "missing"), (2047, "flat")])
def test_a_lead_that_lacks_or_repeats_over_a_quarter_is_unfit(tmp_path, value, reason):
    steps = noise(1100)
    steps[800:] = value  # the first window alone would do
    counts = Counter()
    folder = record(tmp_path, [("ii", "1/mV", steps)])
    assert list(read_series("ptb", data_dir=folder, counts=counts)) == []
    assert counts == {reason: 2}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("s1 1 100 600\ns1.dat 80 1/mV 8 0 0 0 0 ii\n", "format 80 of WFDB cannot be read"),
        ("s1 1 100 900\ns1.dat 16 1/mV 16 0 0 0 0 ii\n", "holds 600 samples, the header promises"),
        ("s1/2 1 100 600\ns1_1 300\ns1_2 300\n", "it has several segments"),
        ("s1 1 100 600\ns1.dat sixteen 1/mV\n", "a signal is given as 's1.dat sixteen 1/mV'"),
        ("s1 one\n", "is no WFDB header that can be read"),
    ],
)
def test_a_record_that_cannot_be_read_is_refused(tmp_path, header, message):
    record(tmp_path, [("ii", "1/mV", noise(600))])
    (tmp_path / "patient001/s1.hea").write_text(header)
    with pytest.raises(ValueError, match=message):
        list(read_series("ptb", data_dir=tmp_path))
