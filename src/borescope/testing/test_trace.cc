#include "borescope/testing/test_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "borescope/catalog/catalog.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

uint32_t LastRow(size_t size) { return static_cast<uint32_t>(size - 1); }

std::string Cell(const Column& column, size_t row) {
  if (column.IsMissing(row)) {
    return "-";
  }
  if (const auto* floats = std::get_if<FloatValues>(&column.values)) {
    return fmt::format("{:.6g}", (*floats)[row]);
  }
  if (const auto* ints = std::get_if<IntValues>(&column.values)) {
    return fmt::format("{}", (*ints)[row]);
  }
  if (const auto* bools = std::get_if<BoolValues>(&column.values)) {
    return (*bools)[row] != 0 ? "yes" : "no";
  }
  return std::get<StringValues>(column.values)[row];
}

}  // namespace

TestTrace::TestTrace() {
  meta().file = "test.json";
  meta().format = TraceFormat::kKineto;
}

void TestTrace::Host(HostKind kind, std::string_view name, Span span, int64_t thread,
                     uint32_t detail) {
  maker_.Host(kind, name, thread, span, detail);
  part().CountEvent('X', part().Intern("host"), span.dur_ns);
}

void TestTrace::Device(DeviceKind kind, std::string_view name, Span span, On on, uint32_t detail) {
  maker_.Device(kind, name, on.gpu, on.stream, span,
                {.correlation = on.correlation, .detail = detail});
  part().CountEvent('X', part().Intern("device"), span.dur_ns);
}

uint32_t TestTrace::Triton(const OpArgs& args) {
  if (args.triton_file.empty()) {
    return kNoDetail;
  }
  TritonLaunches& launches = data().triton;
  const uint32_t row = AddMissingRow(launches);
  launches.backend[row] = part().Intern("triton");
  launches.kernel_file[row] = part().Intern(args.triton_file);
  launches.bytes[row] = args.triton_bytes;
  return row;
}

TestTrace& TestTrace::Op(std::string_view name, Span span, const OpArgs& args, int64_t thread) {
  Ops& ops = data().ops;
  const uint32_t row = AddMissingRow(ops);
  ops.external_id[row] = args.external_id;
  ops.sequence[row] = args.sequence;
  ops.forward_thread[row] = args.forward_thread;
  ops.input_dims[row] = part().Intern(args.dims);
  ops.input_types[row] = part().Intern(args.types);
  ops.triton[row] = Triton(args);
  Host(HostKind::kOp, name, span, thread, row);
  return *this;
}

TestTrace& TestTrace::Annotation(std::string_view name, Span span, int64_t thread) {
  Host(HostKind::kAnnotation, name, span, thread, kNoDetail);
  return *this;
}

TestTrace& TestTrace::AsyncAnnotation(std::string_view name, Span span, int64_t thread) {
  Host(HostKind::kAnnotation, name, span, thread, kNoDetail);
  data().host.track.back() = part().AsyncTrack(1, thread);
  return *this;
}

TestTrace& TestTrace::Python(std::string_view name, Span span, int64_t thread) {
  Host(HostKind::kPython, name, span, thread, kNoDetail);
  return *this;
}

TestTrace& TestTrace::Runtime(std::string_view name, Span span, int64_t correlation,
                              int64_t thread) {
  RuntimeCalls& calls = data().runtime_calls;
  const uint32_t row = AddMissingRow(calls);
  calls.correlation[row] = correlation;
  Host(HostKind::kRuntime, name, span, thread, row);
  return *this;
}

TestTrace& TestTrace::LibraryCall(std::string_view name, Span span, int64_t thread) {
  Host(HostKind::kOther, name, span, thread, AddMissingRow(data().runtime_calls));
  return *this;
}

TestTrace& TestTrace::Pause(Span span, int64_t thread) {
  data().pauses.ts_ns.push_back(span.ts_ns);
  data().pauses.end_ns.push_back(span.ts_ns + span.dur_ns);
  data().pauses.track.push_back(part().Track(TrackKind::kHost, 1, thread));
  return *this;
}

uint32_t TestTrace::Frames(const std::vector<std::string>& stack) {
  StackFrames& frames = data().stack_frames;
  uint32_t frame = kNoDetail;
  for (const std::string& name : stack) {
    frames.name.push_back(part().Intern(name));
    frames.parent.push_back(frame);
    frame = LastRow(frames.size());
  }
  return frame;
}

TestTrace& TestTrace::CalledFrom(const std::vector<std::string>& stack) {
  data().call_stacks.call.push_back(LastRow(data().runtime_calls.size()));
  data().call_stacks.frame.push_back(Frames(stack));
  return *this;
}

TestTrace& TestTrace::Sample(int64_t ts_ns, const std::vector<std::string>& stack, int64_t thread) {
  data().stack_samples.ts_ns.push_back(ts_ns);
  data().stack_samples.track.push_back(part().Track(TrackKind::kHost, 1, thread));
  data().stack_samples.frame.push_back(Frames(stack));
  return *this;
}

TestTrace& TestTrace::Kernel(std::string_view name, Span span, On on) {
  Device(DeviceKind::kKernel, name, span, on, kNoDetail);
  return *this;
}

TestTrace& TestTrace::KernelOfSize(std::string_view name, Span span, int32_t blocks,
                                   int32_t threads, On on) {
  Kernels& kernels = data().kernels;
  const uint32_t row = AddMissingRow(kernels);
  kernels.grid_x[row] = blocks;
  kernels.block_x[row] = threads;
  for (auto* column : {&kernels.grid_y, &kernels.grid_z, &kernels.block_y, &kernels.block_z}) {
    (*column)[row] = 1;
  }
  Device(DeviceKind::kKernel, name, span, on, row);
  return *this;
}

uint32_t TestTrace::Args(const CollectiveArgs& args) {
  Collectives& rows = data().collectives;
  rows.collective.push_back(part().Intern(args.name));
  rows.dtype.push_back(part().Intern(args.dtype));
  rows.group.push_back(part().Intern(args.group));
  rows.group_desc.push_back(part().Intern("default_pg"));
  rows.ranks.push_back(part().Intern(args.members));
  rows.in_elems.push_back(args.in_elems);
  rows.out_elems.push_back(args.out_elems);
  rows.group_size.push_back(args.group_size);
  rows.sequence.push_back(args.sequence);
  return LastRow(rows.size());
}

TestTrace& TestTrace::Collective(const CollectiveArgs& args, Span span, int64_t thread) {
  Op("record_param_comms", span, {}, thread);
  data().ops.collective.back() = Args(args);
  return *this;
}

TestTrace& TestTrace::Kernel(std::string_view name, Span span, On on, const CollectiveArgs& args) {
  const uint32_t row = AddMissingRow(data().kernels);
  data().kernels.collective[row] = Args(args);
  Device(DeviceKind::kKernel, name, span, on, row);
  return *this;
}

TestTrace& TestTrace::Memcpy(std::string_view name, Span span, On on, int64_t bytes) {
  const uint32_t row = AddMissingRow(data().copies);
  data().copies.bytes[row] = bytes;
  Device(DeviceKind::kMemcpy, name, span, on, row);
  return *this;
}

TestTrace& TestTrace::Memset(Span span, On on, int64_t bytes) {
  const uint32_t row = AddMissingRow(data().copies);
  data().copies.bytes[row] = bytes;
  Device(DeviceKind::kMemset, "Memset (Device)", span, on, row);
  return *this;
}

TestTrace& TestTrace::Sync(std::string_view name, Span span, On on, int64_t wait_on_record) {
  Syncs& syncs = data().syncs;
  syncs.stream.push_back(on.stream);
  syncs.wait_on_stream.push_back(kMissing);
  syncs.wait_on_record_correlation.push_back(wait_on_record);
  Device(DeviceKind::kSync, name, span, on, LastRow(syncs.size()));
  return *this;
}

TestTrace& TestTrace::StreamWait(Span span, On on, int64_t wait_on_stream, int64_t record) {
  Sync("Stream Wait Event", span, on, record);
  data().syncs.wait_on_stream.back() = wait_on_stream;
  return *this;
}

TestTrace& TestTrace::Memory(const Allocation& allocation, int64_t thread) {
  MemoryEvents& memory = data().memory;
  memory.ts_ns.push_back(allocation.ts_ns);
  memory.track.push_back(part().Track(TrackKind::kHost, 1, thread));
  memory.device_type.push_back(allocation.device_type);
  memory.device.push_back(allocation.device);
  memory.address.push_back(allocation.address);
  memory.bytes.push_back(allocation.bytes);
  memory.category.push_back(allocation.category);
  memory.total_allocated.push_back(allocation.allocated);
  memory.total_reserved.push_back(allocation.reserved);
  return *this;
}

TestTrace& TestTrace::Range(std::string_view name, Span span,
                            std::initializer_list<std::pair<std::string_view, double>> metrics,
                            int64_t gpu, int64_t correlation) {
  TraceData& rows = data();
  rows.ranges.first_metric.push_back(static_cast<uint32_t>(rows.metrics.size()));
  for (const auto& [metric, value] : metrics) {
    rows.metrics.name.push_back(part().Intern(metric));
    rows.metrics.value.push_back(value);
  }
  rows.ranges.end_metric.push_back(static_cast<uint32_t>(rows.metrics.size()));
  Device(DeviceKind::kRange, name, span, {correlation, 0, gpu}, LastRow(rows.ranges.size()));
  return *this;
}

TestTrace& TestTrace::DeviceAnnotation(std::string_view name, Span span, On on) {
  Device(DeviceKind::kAnnotation, name, span, on, kNoDetail);
  return *this;
}

TestTrace& TestTrace::Launched(std::string_view name, Span launch, Span kernel, On on) {
  return Runtime("cudaLaunchKernel", launch, on.correlation).Kernel(name, kernel, on);
}

const RankView& TestTrace::View(int64_t rank) {
  const Meta meta = data().meta;
  // Behind another part rows are copied, so that more can be added and the trace viewed again.
  TracePart first;
  first.Intern("first");
  TraceBuilder builder;
  builder.Append(std::move(first));
  builder.Append(std::move(part()));
  trace_ = std::make_unique<Trace>(builder.Finish(meta, 0, 1));
  index_ = std::make_unique<TraceIndex>(BuildIndex(*trace_, 1));
  view_ = std::make_unique<RankView>(RankView{rank, *trace_, *index_});
  return *view_;
}

Tables Analyse(std::string_view analysis, std::initializer_list<const RankView*> views,
               const Params& params) {
  const AnalysisSpec* spec = FindAnalysis(analysis);
  std::vector<Tables> mapped;
  for (const RankView* view : views) {
    Result<Tables> tables = spec->PipelineFor(params).map(*view, params);
    EXPECT_TRUE(tables.ok()) << tables.error().Sentence();
    mapped.push_back(std::move(tables).value());
  }
  Result<Tables> reduced = spec->PipelineFor(params).reduce(mapped, params);
  EXPECT_TRUE(reduced.ok());
  if (spec->PipelineFor(params).finish == nullptr) {
    return std::move(reduced).value();
  }
  return spec->PipelineFor(params).finish(std::move(reduced).value(), params).value();
}

std::string Csv(const Table& table, std::initializer_list<std::string_view> columns) {
  std::vector<const Column*> chosen;
  for (const std::string_view name : columns) {
    chosen.push_back(table.Find(name));
    EXPECT_NE(chosen.back(), nullptr) << name;
  }
  for (const Column& column : table.columns) {
    if (columns.size() == 0) {
      chosen.push_back(&column);
    }
  }
  std::string text;
  const auto line = [&](const auto& cell) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      text += (i == 0 ? "" : ",") + cell(*chosen[i]);
    }
    text += '\n';
  };
  line([](const Column& column) { return column.name; });
  for (size_t row = 0; row < table.rows(); ++row) {
    line([row](const Column& column) { return Cell(column, row); });
  }
  return text;
}

}  // namespace borescope::internal
