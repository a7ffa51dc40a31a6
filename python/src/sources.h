// What Python names as a recording, as sources of the engine.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "borescope/run.h"

namespace borescope::python {

// `sources` is a list of tuples: ("path", path) for files, folders and globs; ("bytes", name,
// buffer) for one recording in memory, which is not copied; ("stream", name, open, identify) for
// one whose bytes a reader yields: open() returns an object with read(n), which returns at most n
// bytes, b"" at the end, or a str that says why it cannot be read; ("copy", path, identify) for a
// file with the content of something else. identify is None, or returns two texts:
// Source::identity, and, where that is empty, why it is not known. REQUIRES: the GIL is held.
std::vector<Source> SourcesOf(const nanobind::list& sources);

}  // namespace borescope::python
