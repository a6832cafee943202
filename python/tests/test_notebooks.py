import pytest

import costate
from conftest import ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NEEDS = {
    "torch_material": "torch", "jax_fit": "jax", "soft_cube": "pandas", "emps": "pandas", "from_mujoco_sysid": "pandas",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sorted((ROOT / "python/notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_run_and_show_pictures(path, tmp_path):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    if path.stem == "jax_fit":
        pytest.importorskip("scipy")
    notebook = nbformat.read(path, as_version=4)
    # What a notebook writes stays out of the repository.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    folder = tmp_path / "python/notebooks"
    folder.mkdir(parents=True)
    nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": folder}}).execute()
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    assert any("image/png" in o.get("data", {}) for o in outputs)


@pytest.mark.filterwarnings("ignore")
def test_a_notebook_is_told_from_a_terminal_and_shows_a_bar(tmp_path):
    pytest.importorskip("tqdm")
    # ipykernel is imported here, which makes no notebook of this.
    assert not costate._identify._in_notebook()
    path = ROOT / "examples/spring-cage/experiment.toml"
    code = f"""import costate
print("notebook", costate._identify._in_notebook())
costate.Experiment.load({str(path)!r}).identify()"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = notebook.cells[0].outputs
    streams = "".join(o.get("text", "") for o in outputs)
    pages = [o["data"] for o in outputs if "data" in o]
    assert "notebook True" in streams
    assert "identify" in streams or any("identify" in page.get("text/plain", "") for page in pages)
    # The result is a table there.
    assert any("soft.cage.springs.stiffness" in page.get("text/html", "") for page in pages)
