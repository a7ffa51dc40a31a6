"""nvcc with its headers and libraries: of an installed toolkit, or of the PyPI wheels nvidia-cuda-nvcc, -runtime, -cupti."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def folders():
    """Where toolkits may lie: CUDA_HOME, /usr/local, the packages of this Python."""
    packages = Path(sysconfig.get_path("purelib"), "nvidia")
    named = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return named + sorted(Path("/usr/local").glob("cuda*")) + sorted(packages.glob("*"))


def find_nvcc():
    found = shutil.which("nvcc")
    return found or next((str(path) for path in (folder / "bin" / "nvcc" for folder in folders()) if path.exists()), None)


def find_file(name, *places):
    """The first of this name, beside nvcc before elsewhere; None if there is none."""
    nvcc = find_nvcc()
    beside = [Path(nvcc).resolve().parent.parent] if nvcc else []
    for folder in beside + folders():
        for place in places:
            found = sorted((folder / place).glob(name))
            if found:
                return found[-1]
    return None


def find_cupti_header():
    return find_file("cupti.h", "include", "extras/CUPTI/include")


def find_cupti():
    return find_file("libcupti.so*", "lib", "lib64", "extras/CUPTI/lib64")


def includes():
    """Wheels of CUDA 12 have a folder each."""
    found = [find_file("cuda_runtime.h", "include"), find_cupti_header()]
    return [f"-I{path.parent}" for path in found if path is not None]


def search_roots():
    """Folders in which a library of NVIDIA may have been installed."""
    roots = ["/usr", "/opt", sys.prefix, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    return [root for root in dict.fromkeys(roots) if root and Path(root).is_dir()]
