// The trace that the logs of a recording become, while it is filled: one part for all of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/demangle.h"
#include "borescope/ingest/device_lines.h"
#include "borescope/recording/log_format.h"
#include "borescope/trace/event_rows.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// A process of the recording: what all records of a log have in common.
struct LogProcess {
  int64_t pid = 0;
  int64_t number = 0;  // of the log in its trace: two images of a process count their calls from 1

  // A number of a call, which counts from 1 in each log, made unique.
  int64_t Correlation(uint32_t recorded) const {
    return recorded == 0 ? kMissing : (number << 32) + recorded;
  }
};

struct RecordTime {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
};

class RecordingTrace {
 public:
  TracePart& part() { return part_; }
  TraceData& data() { return part_.data; }
  Diagnostics& diagnostics() { return part_.data.diagnostics; }

  // The text with bytes that are not UTF-8 replaced, and counted.
  StringId Intern(std::string_view text);

  // Times beyond the limit of readers are cut, and counted.
  int64_t Time(uint64_t ns);
  // Counts an event of a category and gives its time; false if it has no start.
  bool Span(StringId category, uint64_t start, uint64_t end, RecordTime& time);
  // Counts an event without a duration.
  void Count(char phase, StringId category) { part_.CountEvent(phase, category, 0); }
  StringId Category(std::string_view name) { return part_.Intern(name); }

  TrackId Thread(const LogProcess& process, uint32_t tid) {
    return part_.Track(TrackKind::kHost, process.pid, tid);
  }

  // The log has a name for a function. Before the calls.
  void NameCall(recording::ApiDomain domain, uint32_t callback, StringId name);
  // Names of functions of an API, and how that API is called.
  StringId CallName(recording::ApiDomain domain, uint32_t callback);
  StringId DomainName(recording::ApiDomain domain);
  // The name of a kernel as people write it.
  StringId KernelName(StringId mangled);

  // A range of this name belongs to a domain.
  void AddDomainOf(StringId range, StringId domain);

  DeviceLines& lines() { return lines_; }
  // By what work and calls there were.
  Vendor vendor() const { return vendor_; }
  void SawVendor(Vendor vendor) { vendor_ = vendor_ == Vendor::kUnknown ? vendor : vendor_; }

 private:
  TracePart part_;
  DeviceLines lines_;
  Demangler demangle_;
  Vendor vendor_ = Vendor::kUnknown;
  HashMap<uint64_t, StringId> call_names_;  // by domain and callback
  HashMap<uint32_t, StringId> kernel_names_;
  HashMap<uint32_t, char> names_in_domains_;
};

}  // namespace borescope::internal
