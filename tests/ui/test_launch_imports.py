"""What the window imports before Qt."""

from __future__ import annotations

import subprocess
import sys


def test_pydantic_is_imported_before_qt():
    """In threads, after Qt, its import failed now and then: PySide looks at each imported module."""
    code = (
        "import sys\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'PySide6': print('pydantic.type_adapter' in sys.modules)\n"
        "sys.meta_path.insert(0, Watch())\n"
        "import m3desk_ui.launch\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split()[:1] == ["True"], done.stderr
