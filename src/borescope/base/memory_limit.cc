#include "borescope/base/memory_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>

namespace borescope::internal {
namespace {

// The rest is for texts, buffers, and what answers need beside the trace.
constexpr uint64_t kColumnsShare = 4;

// The number in a column of /proc/self/statm, which counts pages; 0 if there is none.
uint64_t PagesIn(std::string_view line, size_t column) {
  for (size_t i = 0; i < column; ++i) {
    line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  }
  uint64_t pages = 0;
  std::from_chars(line.data(), line.data() + line.size(), pages);
  return pages;
}

int64_t NowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

uint64_t TakenMemory() {
  constexpr size_t kDataColumn = 5;  // proc_pid_statm(5)
  static const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::array<char, 256> line{};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  const ssize_t size = read(file, line.data(), line.size());
  close(file);
  return size <= 0 ? 0
                   : page_bytes * PagesIn({line.data(), static_cast<size_t>(size)}, kDataColumn);
}

uint64_t MemoryLimit::taken() const {
  const uint64_t now = TakenMemory();
  return now > base_ ? now - base_ : 0;
}

bool MemoryLimit::SpillsColumns(uint64_t more) const {
  return bytes_ != 0 && spill_ != nullptr && taken() + more > bytes_ / kColumnsShare;
}

bool MemoryLimit::IsExceeded() const {
  constexpr int64_t kBetweenLooksNs = 1'000'000;
  if (bytes_ == 0 || exceeded_) {
    return exceeded_;
  }
  const int64_t now = NowNs();
  if (now >= next_look_ns_) {
    next_look_ns_ = now + kBetweenLooksNs;
    exceeded_ = taken() > bytes_;
  }
  return exceeded_;
}

}  // namespace borescope::internal
