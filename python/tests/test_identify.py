import _thread
import json
import pickle
import subprocess
import threading

import numpy as np
import pytest

import costate
from conftest import ROOT

SIGNALS = {"tip": {"position": {"vertex": 26}, "sigma": 1e-4}}


@pytest.fixture(scope="module")
def recording(model):
    times = np.arange(0.0, 0.04, 1e-3)
    truth = model.with_parameters({"soft.block.young": 3.1e4, "soft.block.damping": 1.2})
    motion = costate.rollout(truth, every=None, signals=SIGNALS, times=times)
    noise = np.random.default_rng(0).normal(scale=1e-4, size=(3, len(times)))
    columns = {name.replace(".", "_"): y + e for (name, y), e in zip(motion.signals.items(), noise)}
    return {"time": times, **columns}


def experiment(model, data, **kwargs):
    return costate.Experiment(
        model, signals=SIGNALS, recordings={"fall": data},
        parameters={"soft.block.young": {"start": 2e4}, "soft.block.damping": {}}, **kwargs)


def test_arrays_in_parameters_with_error_bars_out(model, recording):
    found = experiment(model, recording).identify()
    assert found.converged and found.status == "converged"
    young = found.parameters["soft.block.young"]
    assert abs(young.estimate - 3.1e4) < 5 * young.std_error and young.ci95[0] < young.estimate < young.ci95[1]
    assert found["soft.block.young"] == found.estimates["soft.block.young"] == young.estimate
    assert "soft.block.young" in repr(found) and "±" in repr(found) and "converged" in repr(found)
    assert found.model["soft.block.young"] == pytest.approx(young.estimate, rel=1e-14)
    assert "Pa" in repr(young)


def test_a_recording_may_be_a_dict_of_matrices_or_a_frame(model, recording):
    matrix = {"time": recording["time"], "tip": np.stack([recording[f"tip_{c}"] for c in "xyz"], axis=1)}
    first = experiment(model, recording).identify()
    second = experiment(model, {"data": matrix, "range": [0.0, 1.0]}).identify()
    assert first.estimates == second.estimates
    pandas = pytest.importorskip("pandas")
    third = experiment(model, pandas.DataFrame(recording)).identify()
    assert first.estimates == third.estimates
    frame = third.to_dataframe()
    assert frame.loc["soft.block.young", "estimate"] == first["soft.block.young"]
    assert frame.loc["soft.block.young", "low"] < frame.loc["soft.block.young", "high"]
    samples = third.signals_to_dataframe()
    assert len(samples) == 3 * len(recording["time"])


def test_files_give_what_the_program_gives(program, tmp_path):
    path = ROOT / "examples/spring-cage/experiment.toml"
    found = costate.Experiment.load(path).identify(run_folder=tmp_path / "here")
    command = [program, "identify", path, "--out", tmp_path / "there", "--no-gif", "--json"]
    subprocess.run(command, check=True, capture_output=True)
    there = costate.Identification.load(tmp_path / "there" / "result.json")
    assert found.data["parameters"] == there.data["parameters"] and found.cost == there.cost
    assert (tmp_path / "here" / "result.json").exists()
    fits = there.evaluate(costate.Experiment.load(path))
    assert {f["signal"] for f in fits} == {f["signal"] for f in found.data["signals"]}


def test_reports_and_plots(model, recording, tmp_path):
    found = experiment(model, recording, name="fall of a block").identify()
    page = found.report(tmp_path / "report.html", motion=False)
    assert "fall of a block" in page and (tmp_path / "report.html").read_text() == page
    found.save(tmp_path / "result.json")
    back = costate.Identification.load(tmp_path / "result.json")
    assert back.data == json.loads(json.dumps(found.data)) and "soft.block.young" in back.report()
    with pytest.raises(costate.BadInput, match="without its experiment"):
        back.model
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = found.plot()
    assert len(figure.axes) == 3


def test_progress_is_told_and_its_errors_come_out(model, recording):
    seen = []
    found = experiment(model, recording).identify(progress=seen.append)
    assert seen[-1]["cost"] == pytest.approx(found.cost, rel=1e-9) and seen[0]["iteration"] == 0
    assert "soft.block.young" in seen[0]["values"]

    def fail(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        experiment(model, recording).identify(progress=fail)


def test_a_bar_is_shown_where_tqdm_is_installed(model, recording, capsys):
    pytest.importorskip("tqdm")
    experiment(model, recording).identify(progress=True)
    assert "identify" in capsys.readouterr().err


def test_ctrl_c_gives_the_partial_result(model, recording):
    armed = []

    def stop(place):
        if place["iteration"] == 2 and not armed:
            armed.append(True)
            _thread.interrupt_main()
            threading.Event().wait(0.5)

    found = experiment(model, recording, method={"cost_tolerance": 1e-300, "step_tolerance": 1e-300}).identify(progress=stop)
    assert found.status == "interrupted" and not found.converged
    assert found["soft.block.young"] > 0


def test_what_cannot_be_seen_is_refused_by_name(model, recording):
    hidden = costate.Experiment(
        model.with_parameters({"soft.block.position": [0, 0, 1.0]}), signals=SIGNALS,
        recordings={"fall": recording}, parameters=["geom.floor.friction"])
    with pytest.raises(costate.NotIdentifiable, match="geom.floor.friction") as caught:
        hidden.identify()
    assert caught.value.items[0][0] == "geom.floor.friction"


def test_errors_name_the_place_in_the_description(model, recording):
    for kwargs, words in [
        (dict(parameters=["soft.block.yung"]), "soft.block.yung"),
        (dict(signals={"tip": {"position": {"vertex": 999}}}), "signal.tip.position.vertex: expected a vertex"),
        (dict(recordings={"fall": {"time": recording["time"]}}), "tip_x"),
        (dict(recordings={"fall": 3}), "found a int"),
        (dict(method={"name": "newton"}), "method.name"),
    ]:
        settings = dict(signals=SIGNALS, recordings={"fall": recording}, parameters=["soft.block.young"])
        with pytest.raises(costate.CostateError, match=words) as caught:
            costate.Experiment(model, **{**settings, **kwargs}).identify()
        assert "<experiment>" not in str(caught.value)


def test_cost_and_gradient_at_the_start(model, recording):
    cost, gradient = experiment(model, recording).gradient()
    assert cost > 0 and set(gradient) == {"soft.block.young", "soft.block.damping"}


def test_time_may_be_the_index_of_a_frame(model, recording):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(recording).set_index("time")
    found = experiment(model, frame).identify()
    assert found.estimates == experiment(model, recording).identify().estimates


def test_ctrl_c_in_the_progress_function_gives_the_partial_result(model, recording):
    def stop(_):
        raise KeyboardInterrupt

    settings = {"cost_tolerance": 1e-300, "step_tolerance": 1e-300}
    found = experiment(model, recording, method=settings).identify(progress=stop)
    assert found.status == "interrupted" and not found.converged


def test_experiments_and_results_travel(model, recording, tmp_path):
    own = pickle.loads(pickle.dumps(experiment(model, recording)))
    found = pickle.loads(pickle.dumps(own.identify()))
    assert found.estimates == experiment(model, recording).identify().estimates
    assert found.model["soft.block.young"] == pytest.approx(found["soft.block.young"], rel=1e-14)
    read = pickle.loads(pickle.dumps(costate.Experiment.load(ROOT / "examples/spring-cage/experiment.toml")))
    assert read.parameters and read.gradient()[0] > 0.0


def test_notebooks_show_a_table(model, recording):
    page = experiment(model, recording).identify()._repr_html_()
    assert page.startswith("<table>") and "soft.block.young" in page and "converged" in page


def test_without_unknowns_the_recordings_are_predicted(model, recording):
    found = costate.Experiment(model, signals=SIGNALS, recordings={"fall": recording}, parameters={}).identify()
    assert "nothing to find" in repr(found) and "converged after" not in repr(found)


def test_an_absurd_cell_is_named(model, recording):
    x = recording["tip_x"].copy()
    x[7] = 1e300
    with pytest.raises(costate.BadInput, match="recording.fall: signal `tip.x` is 1e300 at t = 0.007 s"):
        experiment(model, {**recording, "tip_x": x}).identify()
