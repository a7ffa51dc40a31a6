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

// A stop that is requested through the token's std::stop_source ends whatever a Run is doing, in
// any of its threads: loading a file of any format, indexing, analyses, statements of SQL. The
// error is kCancelled; an answer that is given is whole. On a trace of 100 MB this takes some tens
// of milliseconds (docs/use/library.md has measurements); a Reader of yours that blocks is waited
// for. A token stays stopped: all later questions to the Run are cancelled, too.
using StopToken = std::stop_token;

}  // namespace borescope
