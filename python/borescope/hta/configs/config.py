"""Settings from JSON files, which nothing here reads by itself, and the log."""

from __future__ import annotations

import json
import logging
import os
from typing import Any

logger: logging.Logger = logging.getLogger("borescope.hta")
_NAME = "trace_analyzer.json"


def setup_logger(config_file: str = "") -> None:
    """Configures logging by a file of ``logging.config``; without one nothing is changed."""
    if config_file:
        import logging.config

        logging.config.fileConfig(config_file, disable_existing_loggers=False)


class HtaConfig:
    """Settings of all files that there are: of the home folder, of the current one, and a named one."""

    def __init__(self, config_file_path: str | None = None, load_default_paths: bool | None = True) -> None:
        self.config_file_paths: list[str] = self.get_default_paths() if load_default_paths else []
        self.config_file_paths += [config_file_path] if config_file_path else []
        self.config: dict[str, Any] = {}
        for path in self.get_config_file_paths():
            with open(path, encoding="utf-8") as file:
                self.config.update(json.load(file))

    @staticmethod
    def get_default_paths() -> list[str]:
        """Where settings may be: in this package, which has none, in the home folder, in the current one."""
        return [os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME),
                os.path.join(os.path.expanduser("~"), ".hta", _NAME), os.path.join(os.getcwd(), _NAME)]

    def get_config_file_paths(self) -> list[str]:
        """Where they are."""
        return [path for path in self.config_file_paths if os.access(path, os.R_OK)]

    def get_config(self, dot_path: str | None = None, default_value: Any = None) -> Any:
        """The setting ``a.b.c``, or all of them."""
        from ..utils.utils import get_value_from_dict

        return self.config if dot_path is None else get_value_from_dict(self.config, dot_path, default_value)

    def show(self) -> None:
        """Prints the settings."""
        print(json.dumps(self.config, indent=4, sort_keys=True))

    @staticmethod
    def get_test_data_path(dataset: str) -> str:
        """The folder of a sample of HTA's repository: in the folder that ``HTA_TEST_DATA`` names, else in tests/data of the
        current one. This package brings no samples."""
        return os.path.join(os.environ.get("HTA_TEST_DATA") or os.path.join(os.getcwd(), "tests", "data"), dataset)
