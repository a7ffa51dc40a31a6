// Links as Chakra's trace_link does, with its rules, rounding and oversights, so that the linked
// trace has the same bytes. Inputs at which that tool ends with an error need not end this one:
// docs/use/chakra.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link.h"

namespace borescope::internal::chakra::compat {

// A number as Python's json module reads it: an integer stays an integer, and arithmetic with a
// fraction is that of doubles. Results of that arithmetic are part of the reference's output.
struct Number {
  bool is_double = false;
  int64_t whole = 0;
  double fraction = 0;

  static Number Int(int64_t value) { return {false, value, 0}; }
  static Number Double(double value) { return {true, 0, value}; }

  double AsDouble() const { return is_double ? fraction : static_cast<double>(whole); }
  LinkTime AsTime() const { return is_double ? LinkTime::Double(fraction) : LinkTime::Int(whole); }

  // Integers wrap around, but the reader of events only accepts numbers for which that cannot
  // happen.
  friend Number operator+(Number a, Number b) {
    return a.is_double || b.is_double ? Double(a.AsDouble() + b.AsDouble())
                                      : Int(a.whole + b.whole);
  }
  friend Number operator-(Number a, Number b) {
    return a.is_double || b.is_double ? Double(a.AsDouble() - b.AsDouble())
                                      : Int(a.whole - b.whole);
  }
  friend bool operator<(Number a, Number b) {
    return a.is_double || b.is_double ? a.AsDouble() < b.AsDouble() : a.whole < b.whole;
  }
  friend bool operator<=(Number a, Number b) { return !(b < a); }
};

inline constexpr int64_t kNone = -1;  // what the reference takes for a missing id

// The events of a Kineto trace as the reference linker takes them: all of them, metadata included,
// in the order of the file, with numbers of the type in which they were written. (Borescope's own
// columns contain integer nanoseconds and drop what is not an event.)

struct DeviceEvent {
  // Contents of strings as written; empty if missing.
  std::string_view category;
  std::string_view name;
  // Texts of values; empty if missing.
  std::string_view name_json;
  std::string_view phase;
  std::string_view pid;
  std::string_view tid;
  std::string_view stream;
  std::string_view group;
  Number begin;     // us
  Number duration;  // us; 0 if missing
  bool has_begin = false;
  bool has_duration = false;
  std::optional<int64_t> rf_id;
  std::optional<int64_t> external_id_given;
  int64_t external_id = kNone;
  int64_t correlation = kNone;
  int64_t wait_on_stream = kNone;
  int64_t wait_on_record_correlation = kNone;
  uint32_t thread = 0;  // number of the tid, by the order of the file

  Number end() const { return begin + duration; }
};

struct DeviceTrace {
  std::unique_ptr<const std::string> text;  // all views point here
  std::vector<DeviceEvent> events;
  uint32_t threads = 0;
  std::optional<uint32_t> thread_zero;  // the number of tid 0
  Diagnostics diagnostics;
};

// Errors (kUnsupportedFormat, kCorrupt) name the byte, not the file. Times that no clock shows and
// fields of the wrong type are counted (kBadFieldType).
Result<DeviceTrace> ReadDeviceTrace(std::string text);

// kMissingData if no operator is in both.
Result<LinkPlan> LinkAsChakra(const HostTrace& host, DeviceTrace device);

}  // namespace borescope::internal::chakra::compat
