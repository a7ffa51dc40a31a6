#!/usr/bin/env python3
"""Writes the names of CUDA's calls, and which of them do work, from the lists of numbers in CUPTI's headers.

Usage: tools/gen_cuda_calls.py FOLDER... [--check]

Each folder holds a cupti_runtime_cbid.h and a cupti_driver_cbid.h, as the PyPI wheels nvidia-cuda-cupti-cu11,
nvidia-cuda-cupti-cu12 and nvidia-cuda-cupti have them. Numbers are never used twice, so several versions make one
table: of two names of a number that of the newest version is taken, and one that the newest has withdrawn stays.
--check (ctest `cuda_calls`, with the folders of BORESCOPE_CUPTI_INCLUDES) writes nothing and fails where a file is
out of date.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "src/borescope/ingest/cupti/cuda_call_names.h"
CHOICES = ROOT / "record/src/cuda/call_numbers.h"
MOST_COLUMNS = 100
APIS = ("runtime", "driver")

# What is said about a function beside its name: a release, a revision, the default stream of a thread.
RELEASE = re.compile(r"_v\d{4,5}$")
DECORATION = re.compile(r"(_ptsz|_ptds|_v\d+)+$")
# Places that hold no function: of the runtime cuda531, cuda531_v13010, of the driver reserved464.
EMPTY = re.compile(r"INVALID|SIZE|FORCE_INT|cuda\d+(_v\d+)?|reserved\d+")
# Work of a device: kernels, runs of graphs, copies, sets, movements of managed memory.
LAUNCHES = re.compile(r"Launch(?!HostFunc)\w*|GraphLaunch\w*|SubgridScheduleLaunch|Memcpy\w*|Memset\w*|MemPrefetch\w*Async|"
                      r"MemDiscardAndPrefetchBatchAsync|MemBatchDecompressAsync")
# What programs call all the time, and what says nothing.
IDLE = re.compile(r"GetLastError|PeekAtLastError|GetDevice|StreamIsCapturing|StreamGetCaptureInfo|"
                  r"(Push|Pop)CallConfiguration")
# What belongs to it in a stream: allocations, captures, making graphs of them, functions of the host.
ORDERS = re.compile(r"(Malloc|MemAlloc|Free|MemFree)(FromPool)?Async|MemDiscardBatchAsync|MemMapArrayAsync|"
                    r"Graph(Instantiate\w*|Upload|ExecUpdate)|Stream(Begin|End)(Rec|C)apture\w*|LaunchHostFunc")


def version_of(folder):
    text = (Path(folder) / "cupti_version.h").read_text(encoding="utf-8")
    return int(re.search(r"#\s*define\s+CUPTI_API_VERSION\s+(\d+)", text)[1])


def numbers_of(folder, api):
    """Names by number; a place that holds no function in this version may have held one in another."""
    text = (Path(folder) / f"cupti_{api}_cbid.h").read_text(encoding="utf-8")
    found = re.findall(rf"CUPTI_{api.upper()}_TRACE_CBID_(\w+)\s*=\s*(\d+)", text)
    return {int(number): name for name, number in found
            if not EMPTY.fullmatch(name)}


def table_of(folders, api):
    table = {}
    # Two releases of CUDA may have one version of CUPTI.
    for folder in sorted(folders, key=lambda each: (version_of(each), max(numbers_of(each, api), default=0))):
        table.update(numbers_of(folder, api))
    return {number: RELEASE.sub("", name) for number, name in sorted(table.items())}


def base_name(name):
    """The function, whatever its revision and address size: Memcpy of cu64Memcpy_v2 and __cudaMemcpy_ptsz."""
    return re.sub(r"^(__)?(cuda|cu64|cu)", "", DECORATION.sub("", name))


def chosen(table, pattern):
    return [number for number, name in table.items() if pattern.fullmatch(base_name(name))]


def wrapped(words):
    """Words in lines, each followed by a comma."""
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) + 2 > MOST_COLUMNS - 4:
            lines.append(line.rstrip())
            line = ""
        line += f"{word}, "
    return "".join(f"    {each}\n" for each in [*lines, line.rstrip()])


HEAD = "// Written by tools/gen_cuda_calls.py.\n"


def names_text(tables):
    parts = [HEAD, """// The numbers that CUPTI gives the functions of CUDA 11 to 13, each with its function, sorted by
// number. Those that are not in any version's headers are left out.
#pragma once

#include <string_view>

namespace borescope::internal {

struct CudaCallName {
  int number;
  std::string_view name;
};

// clang-format off
"""]
    for api, table in tables.items():
        words = [f'{{{number}, "{name}"}}' for number, name in table.items()]
        parts.append(f"inline constexpr CudaCallName k{api.title()}CallNames[] = {{\n{wrapped(words)}}};\n")
    parts.append("// clang-format on\n\n}  // namespace borescope::internal\n")
    return "".join(parts)


def choices_text(tables):
    parts = [HEAD, """// By CUPTI's numbers, sorted: which calls of CUDA launch work of a device, which of the driver are
// recorded besides, since they order work in a stream, and which of the runtime never are.
#pragma once

#include <cstdint>

namespace borescope::inject::cuda {

// clang-format off
"""]
    for api, table in tables.items():
        words = [str(number) for number in chosen(table, LAUNCHES)]
        parts.append(f"inline constexpr uint32_t k{api.title()}Launches[] = {{\n{wrapped(words)}}};\n")
    orders = [str(number) for number in chosen(tables["driver"], ORDERS)]
    idle = [str(number) for number in chosen(tables["runtime"], IDLE)]
    parts.append(f"inline constexpr uint32_t kDriverOrders[] = {{\n{wrapped(orders)}}};\n")
    parts.append(f"inline constexpr uint32_t kRuntimeIdle[] = {{\n{wrapped(idle)}}};\n// clang-format on\n\n")
    parts.append("// The newest that whoever reads a log knows by name.\n")
    parts += [f"inline constexpr uint32_t kNewest{api.title()}Call = {max(table)};\n" for api, table in tables.items()]
    parts.append("\n}  // namespace borescope::inject::cuda\n")
    return "".join(parts)


def main():
    arguments = sys.argv[1:]
    is_check = "--check" in arguments
    folders = [argument for argument in arguments if argument != "--check"]
    if not folders:
        sys.exit(__doc__)
    tables = {api: table_of(folders, api) for api in APIS}
    for path, text in ((NAMES, names_text(tables)), (CHOICES, choices_text(tables))):
        if not is_check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is out of date: run tools/gen_cuda_calls.py with the same folders")


if __name__ == "__main__":
    main()
