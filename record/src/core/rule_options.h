// Where recording starts and stops, as the launcher says it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace borescope::inject {

inline constexpr size_t kMostNameBytes = 256;

// A name of ranges and marks, or the beginning of names.
struct NameRule {
  char text[kMostNameBytes] = {};
  uint32_t length = 0;  // 0: none
  bool is_prefix = false;

  bool is_set() const { return length != 0; }
  bool Matches(const char* name, size_t name_length) const;
};

// Of a value of the options: "%3b" is a byte, and a "*" at the end is any rest.
NameRule ParseNameRule(const char* value, size_t length);

enum class RuleKind : uint8_t {
  kNone,
  kRange,     // of a name: when it begins, to start; when it ends, to stop
  kOwnRange,  // to stop: when the range ends that started
  kStep,
  kCall,  // of the program, to cudaProfilerStart, cudaProfilerStop and similar ones
};

struct RuleOptions {
  RuleKind start = RuleKind::kNone;
  RuleKind stop = RuleKind::kNone;
  NameRule start_name;
  NameRule stop_name;
  uint64_t start_step = 0;
  uint64_t stop_step = 0;
  uint32_t most_starts = 1;  // in a process; 0: no limit
};

}  // namespace borescope::inject
