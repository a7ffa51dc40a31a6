// How far a load is, and how to stop it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

namespace borescope {

struct Progress {
  uint64_t done_bytes = 0;   // of all files, as stored
  uint64_t total_bytes = 0;  // 0 when unknown
  size_t done_files = 0;
  size_t total_files = 0;
};

// Called from any thread, never from two at once.
using ProgressCallback = std::function<void(const Progress&)>;

// A stop that is requested through the token's std::stop_source ends a load, and keeps analyses
// that have not begun from beginning; the error is kCancelled. A single analysis of a single rank
// runs to its end.
using StopToken = std::stop_token;

}  // namespace borescope
