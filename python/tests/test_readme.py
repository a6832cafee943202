import re

import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["README.md", "python/README.md"])
def test_the_programs_of_the_readmes_run(name, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.S)
    assert blocks
    exec(compile("\n".join(blocks), name, "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out
