import pytest

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
