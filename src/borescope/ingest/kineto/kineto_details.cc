#include "borescope/ingest/kineto/kineto_details.h"

#include <array>
#include <cmath>

#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

// Canonical spacing of a JSON value: only one blank after each comma and colon.
std::string Canonical(std::string_view value) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < value.size()) {
        out += value[++i];
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      out += c;
      in_string = c == '"';
      if (c == ',' || c == ':') {
        out += ' ';
      }
    }
  }
  return out;
}

// Up to three integers of an array token "[512, 1, 1]"; -1 if there is none.
std::array<int32_t, 3> ReadTriple(std::string_view token) {
  std::array<int32_t, 3> triple{-1, -1, -1};
  size_t i = 0;
  for (int32_t& number : triple) {
    while (i < token.size() && static_cast<unsigned>(token[i] - '0') >= 10) {
      ++i;
    }
    int64_t value = i < token.size() ? 0 : -1;
    for (; i < token.size() && static_cast<unsigned>(token[i] - '0') < 10; ++i) {
      value = std::min<int64_t>(value * 10 + (token[i] - '0'), std::numeric_limits<int32_t>::max());
    }
    number = static_cast<int32_t>(value);
  }
  return triple;
}

uint32_t LastRow(size_t size) { return static_cast<uint32_t>(size - 1); }

// A count written in units of `unit`; kMissing if it is not a number or does not fit.
int64_t CountOf(std::string_view text, double unit) {
  constexpr double kMost = 9e18;
  const ParsedDouble number = ParseDouble(text);
  const double count = number.value * unit;
  const bool is_count = number.status == NumberStatus::kOk && count >= 0 && count < kMost;
  return is_count ? std::llround(count) : kMissing;
}

}  // namespace

KinetoDetails::KinetoDetails(EventValues& values, TracePart& part)
    : values_(values), part_(part), canonical_{StringId{0}} {}

uint32_t KinetoDetails::AddOp(const RawEvent& event) {
  if (!event.HasAny(Field::kExternalId, Field::kKernelFile) && !event.Has(Field::kCollective)) {
    return kNoDetail;
  }
  Ops& ops = part_.data.ops;
  ops.external_id.push_back(values_.Integer(event, Field::kExternalId));
  ops.record_function_id.push_back(values_.Integer(event, Field::kRecordFunctionId));
  ops.sequence.push_back(values_.Integer(event, Field::kSequence));
  ops.forward_thread.push_back(values_.Integer(event, Field::kForwardThread));
  ops.input_dims.push_back(InternList(event, Field::kInputDims));
  ops.input_types.push_back(InternList(event, Field::kInputTypes));
  ops.input_strides.push_back(InternList(event, Field::kInputStrides));
  ops.concrete_inputs.push_back(InternList(event, Field::kConcreteInputs));
  ops.collective.push_back(AddCollective(event));
  ops.triton.push_back(AddTritonLaunch(event));
  return LastRow(ops.size());
}

uint32_t KinetoDetails::AddTritonLaunch(const RawEvent& event) {
  if (!event.HasAny(Field::kKernelBackend, Field::kKernelFile)) {
    return kNoDetail;
  }
  TritonLaunches& rows = part_.data.triton;
  rows.backend.push_back(InternText(event, Field::kKernelBackend));
  rows.kernel_file.push_back(InternText(event, Field::kKernelFile));
  constexpr double kBytesPerGigabyte = 1e9;
  rows.bytes.push_back(CountOf(event.Get(Field::kKernelGigabytes), kBytesPerGigabyte));
  rows.flops.push_back(CountOf(event.Get(Field::kKernelFlops), 1));
  return LastRow(rows.size());
}

uint32_t KinetoDetails::AddRuntimeCall(const RawEvent& event) {
  RuntimeCalls& calls = part_.data.runtime_calls;
  calls.correlation.push_back(values_.Integer(event, Field::kCorrelation));
  calls.external_id.push_back(values_.Integer(event, Field::kExternalId));
  calls.domain.push_back(InternOptional(event, Field::kDomain));
  calls.args.push_back(InternOptional(event, Field::kCallArgs));
  calls.kernel.push_back(InternOptional(event, Field::kKernelName));
  return LastRow(calls.size());
}

// Whatever is not a number of a frame is none: nothing but the ends of frames depends on them.
uint32_t KinetoDetails::AddFrame(const RawEvent& event) {
  const auto number = [&](Field field) {
    const ParsedNumber recorded = ParseInteger(event.Get(field));
    const bool fits = recorded.status == NumberStatus::kOk && recorded.value >= 0 &&
                      recorded.value <= std::numeric_limits<int32_t>::max();
    return fits ? static_cast<int32_t>(recorded.value) : FrameNumbers::kNone;
  };
  const bool is_outermost = event.Get(Field::kFrameCaller) == "null";
  part_.frames.rows.push_back({number(Field::kFrameId),
                               is_outermost ? FrameNumbers::kNobody : number(Field::kFrameCaller)});
  return LastRow(part_.frames.rows.size());
}

// A profiler's own work has texts but no ids.
uint32_t KinetoDetails::AddOtherCall(const RawEvent& event) {
  const uint32_t row = AddRuntimeCall(event);
  part_.data.runtime_calls.correlation[row] = kMissing;
  part_.data.runtime_calls.external_id[row] = kMissing;
  return row;
}

uint32_t KinetoDetails::AddKernel(const RawEvent& event) {
  Kernels& kernels = part_.data.kernels;
  const std::array<int32_t, 3> grid = ReadTriple(event.Get(Field::kGrid));
  const std::array<int32_t, 3> block = ReadTriple(event.Get(Field::kBlock));
  kernels.grid_x.push_back(grid[0]);
  kernels.grid_y.push_back(grid[1]);
  kernels.grid_z.push_back(grid[2]);
  kernels.block_x.push_back(block[0]);
  kernels.block_y.push_back(block[1]);
  kernels.block_z.push_back(block[2]);
  kernels.registers.push_back(values_.SmallInteger(event, Field::kRegisters));
  kernels.shared_bytes.push_back(values_.SmallInteger(event, Field::kSharedBytes));
  kernels.occupancy_percent.push_back(values_.SmallInteger(event, Field::kOccupancy));
  kernels.private_bytes.push_back(values_.SmallInteger(event, Field::kPrivateBytes));
  kernels.stream_handle.push_back(InternOptional(event, Field::kStreamHandle));
  kernels.graph_node_id.push_back(values_.Unsigned(event, Field::kGraphNodeId, kMissing));
  // The track has the number of a recorded stream, so that nothing more is kept of it.
  const bool has_stream = values_.Integer(event, Field::kStream, kMissing) >= 0;
  kernels.has_stream.push_back(has_stream ? MissingValue<char>() : 0);
  kernels.collective.push_back(AddCollective(event));
  return LastRow(kernels.size());
}

uint32_t KinetoDetails::AddCopy(const RawEvent& event) {
  part_.data.copies.bytes.push_back(values_.Integer(event, Field::kBytes));
  // "N/A" if the producer measured no time.
  const ParsedDouble gbps = ParseDouble(event.Get(Field::kGbps));
  part_.data.copies.gbps.push_back(gbps.status == NumberStatus::kOk ? gbps.value : -1.0);
  part_.data.copies.call.push_back(AddCopyCall(event));
  return LastRow(part_.data.copies.size());
}

uint32_t KinetoDetails::AddCopyCall(const RawEvent& event) {
  if (!event.HasAny(Field::kCopyKind, Field::kIsPinned) && !event.Has(Field::kStreamHandle)) {
    return kNoDetail;
  }
  CopyCalls& calls = part_.data.copy_calls;
  calls.kind.push_back(values_.Integer(event, Field::kCopyKind));
  calls.stream_handle.push_back(InternOptional(event, Field::kStreamHandle));
  calls.source.push_back(InternOptional(event, Field::kSource));
  calls.target.push_back(InternOptional(event, Field::kTarget));
  calls.source_device.push_back(values_.Integer(event, Field::kSourceDevice));
  calls.target_device.push_back(values_.Integer(event, Field::kTargetDevice));
  calls.width.push_back(values_.Integer(event, Field::kWidth));
  calls.height.push_back(values_.Integer(event, Field::kHeight));
  calls.is_sync.push_back(values_.Integer(event, Field::kIsSync));
  calls.is_pinned.push_back(values_.Integer(event, Field::kIsPinned));
  return LastRow(calls.size());
}

uint32_t KinetoDetails::AddSync(const RawEvent& event) {
  Syncs& syncs = part_.data.syncs;
  syncs.stream.push_back(values_.Integer(event, Field::kStream));
  syncs.wait_on_stream.push_back(values_.Integer(event, Field::kWaitOnStream));
  syncs.wait_on_record_correlation.push_back(values_.Integer(event, Field::kWaitOnRecord));
  return LastRow(syncs.size());
}

uint32_t KinetoDetails::AddCollective(const RawEvent& event) {
  if (!event.Has(Field::kCollective)) {
    return kNoDetail;
  }
  Collectives& rows = part_.data.collectives;
  rows.collective.push_back(InternText(event, Field::kCollective));
  rows.dtype.push_back(InternText(event, Field::kDtype));
  rows.group.push_back(InternText(event, Field::kGroupName));
  rows.group_desc.push_back(InternText(event, Field::kGroupDesc));
  rows.ranks.push_back(InternText(event, Field::kGroupRanks));
  rows.in_elems.push_back(values_.Integer(event, Field::kInElems));
  rows.out_elems.push_back(values_.Integer(event, Field::kOutElems));
  rows.group_size.push_back(values_.Integer(event, Field::kGroupSize));
  rows.sequence.push_back(values_.Integer(event, Field::kCollectiveSequence));
  return LastRow(rows.size());
}

StringId KinetoDetails::InternText(const RawEvent& event, Field field) {
  return part_.Intern(values_.Text(event, field));
}

StringId KinetoDetails::InternList(const RawEvent& event, Field field) {
  const std::string_view token = event.Get(field);
  const StringId raw = lists_.Intern(token);
  if (raw.value == canonical_.size()) {
    canonical_.push_back(part_.Intern(Canonical(token)));
  }
  return canonical_[raw.value];
}

}  // namespace borescope::internal
