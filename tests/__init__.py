"""What must hold. Tests keep their servers in memory: the setting is read before any module of the project."""

import os

os.environ["LOCAL_IN_MEMORY"] = "1"
