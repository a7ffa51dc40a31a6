// The trace that the logs of a recording become, while it is filled: one part for all of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/demangle.h"
#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/ingest/device_lines.h"
#include "borescope/recording/log_format.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

// A process of the recording: what all records of a log have in common.
struct LogProcess {
  int64_t pid = 0;
  int64_t number = 0;  // of the log in its trace: two images of a process count their calls from 1
  // A copy of another process, whose log is whole: ends of what its parent began are in it, too.
  bool is_fork = false;

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

  // A range that began then has not ended by the end of its log.
  void NoteOpen(int64_t begin_ns) { open_begins_.push_back(begin_ns); }
  // When they began, in no order.
  const std::vector<int64_t>& open_begins() const { return open_begins_; }

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
  std::vector<int64_t> open_begins_;
};

// Operators of PyTorch that its NVTX observer wrote as ranges: which texts are operators rather
// than ranges of the program, and which operators run backward, for whom.
//
// The texts do not hold the thread of the forward pass, so it is found: it is that of the last
// operator before with the same sequence number. Numbers count per thread, so in a process whose
// threads train at the same time it can be another thread's.

class TorchOperators {
 public:
  explicit TorchOperators(RecordingTrace& trace) : trace_(trace) {}

  // Whether a text with the number of a call is an operator: all but ranges of the program that
  // PyTorch numbers, too (record_function). `around` is the name of the range that it is in.
  static bool IsOperator(const OperatorText& op, std::string_view around);

  // The range that something is in: its name and, if it is an operator, its detail.
  struct Around {
    std::string_view name;
    uint32_t detail = kNoDetail;
  };

  // An operator that begins now, on the thread `tid`. The engine's call of a node of the backward
  // pass gets the number of that node, which its own text does not say.
  void Add(const OperatorText& op, uint32_t detail, int64_t ts_ns, uint32_t tid,
           const Around& around);

  // Once all are known: backward operators get the thread of their forward pass.
  void Finish();

 private:
  struct Numbered {
    int64_t sequence;
    int64_t ts_ns;
    uint32_t tid;
    uint32_t detail;
    bool is_backward;
  };

  RecordingTrace& trace_;
  std::vector<Numbered> operators_;
};

// The inputs of a recorded operator.

// `json` is an object whose members have the names that PyTorch's profiler writes: "Input Dims",
// "Input type", "Input Strides", "Concrete Inputs". Fills the row of Ops; other members are passed
// over. Nothing happens for an empty text; one that is no object is counted.
void AddOperatorInputs(RecordingTrace& trace, std::string_view json, uint32_t row);

}  // namespace borescope::internal
