// TestTrace: makes small traces for the unit tests of the analyses, event by event, without a file
// format: a TraceMaker with words for all that analyses ask about, and the answers as text. Times
// are nanoseconds. Sizes of the world: host process 1, devices as numbered.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/testing/trace_maker.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

using testkit::Span;

// Optional properties of an operator.
struct OpArgs {
  int64_t external_id = kMissing;
  int64_t forward_thread = kMissing;
  int64_t sequence = kMissing;
  std::string dims = {};
  std::string types = {};
  std::string triton_file = {};  // not empty: the operator launches a Triton kernel of this file
  int64_t triton_bytes = kMissing;
};

// What a communication call says about itself.
struct CollectiveArgs {
  std::string name;  // "allreduce"
  int64_t in_elems = kMissing;
  int64_t out_elems = kMissing;
  std::string dtype = "Float";
  int64_t group_size = 2;
  std::string group = "0";
  int64_t sequence = kMissing;
  std::string members = "[0, 1]";
};

// Where a device event ran and what launched it.
struct On {
  int64_t correlation = kMissing;
  int64_t stream = 7;
  int64_t gpu = 0;
};

// An allocator event.
struct Allocation {
  int64_t ts_ns = 0;
  uint64_t address = 0;
  int64_t bytes = 0;  // negative: freed
  int64_t allocated = kMissing;
  int64_t reserved = kMissing;
  int32_t device_type = 1;  // CUDA
  int32_t device = 0;
  MemoryCategory category = MemoryCategory::kNone;
};

class TestTrace {
 public:
  TestTrace();

  Meta& meta() { return data().meta; }

  TestTrace& Op(std::string_view name, Span span, const OpArgs& args = {}, int64_t thread = 1);
  TestTrace& Annotation(std::string_view name, Span span, int64_t thread = 1);
  // A range that may overlap others.
  TestTrace& AsyncAnnotation(std::string_view name, Span span, int64_t thread = 1);
  TestTrace& Python(std::string_view name, Span span, int64_t thread = 1);
  TestTrace& Runtime(std::string_view name, Span span, int64_t correlation = kMissing,
                     int64_t thread = 1);
  // A call of another library, or of the operating system.
  TestTrace& LibraryCall(std::string_view name, Span span, int64_t thread = 1);
  // Time without a processor. Those of a thread are disjoint and added by time.
  TestTrace& Pause(Span span, int64_t thread = 1);
  // A sampled stack, outermost frame first.
  TestTrace& Sample(int64_t ts_ns, const std::vector<std::string>& stack, int64_t thread = 1);
  // The stack of the call added last, outermost frame first.
  TestTrace& CalledFrom(const std::vector<std::string>& stack);
  TestTrace& Kernel(std::string_view name, Span span, On on = {});
  // With as many blocks of as many threads.
  TestTrace& KernelOfSize(std::string_view name, Span span, int32_t blocks, int32_t threads,
                          On on = {});
  // An operator, or a kernel, that carries the arguments of a collective.
  TestTrace& Collective(const CollectiveArgs& args, Span span, int64_t thread = 1);
  TestTrace& Kernel(std::string_view name, Span span, On on, const CollectiveArgs& args);
  TestTrace& Memcpy(std::string_view name, Span span, On on = {}, int64_t bytes = kMissing);
  TestTrace& Memset(Span span, On on = {}, int64_t bytes = kMissing);
  TestTrace& Sync(std::string_view name, Span span, On on, int64_t wait_on_record = kMissing);
  // The stream of `on` waits for the event that call `record` recorded on another one.
  TestTrace& StreamWait(Span span, On on, int64_t wait_on_stream, int64_t record);
  TestTrace& Memory(const Allocation& allocation, int64_t thread = 1);
  // Hardware counters of a range on `gpu`.
  TestTrace& Range(std::string_view name, Span span,
                   std::initializer_list<std::pair<std::string_view, double>> metrics,
                   int64_t gpu = 0, int64_t correlation = kMissing);
  TestTrace& DeviceAnnotation(std::string_view name, Span span, On on = {});

  // A launch of `launch_ns` length and its kernel.
  TestTrace& Launched(std::string_view name, Span launch, Span kernel, On on);

  // Ends building. The view stays valid as long as this object.
  const RankView& View(int64_t rank = 0);

 private:
  void Host(HostKind kind, std::string_view name, Span span, int64_t thread, uint32_t detail);
  uint32_t Args(const CollectiveArgs& args);
  // Adds the frames of a stack; the innermost.
  uint32_t Frames(const std::vector<std::string>& stack);
  uint32_t Triton(const OpArgs& args);
  void Device(DeviceKind kind, std::string_view name, Span span, On on, uint32_t detail);

  TracePart& part() { return maker_.part(); }
  TraceData& data() { return maker_.part().data; }

  testkit::TraceMaker maker_{1};
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<TraceIndex> index_;
  std::unique_ptr<RankView> view_;
};

// The outcome of an analysis over some ranks: map, reduce, finish. Fails the test on an error.
Tables Analyse(std::string_view analysis, std::initializer_list<const RankView*> views,
               const Params& params = {});

// Rows of a table as comma-separated text, with a header of the columns asked for (all if none).
// Missing cells are "-"; floats are written with up to six significant digits.
std::string Csv(const Table& table, std::initializer_list<std::string_view> columns = {});

}  // namespace borescope::internal
