#include "borescope/engine/captures/captured_sequences.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/captured_names.h"
#include "borescope/analysis/measures/graphs/graph_captures.h"

namespace borescope::internal {
namespace {

HostId OperatorAround(const CaptureFile& file, HostId row) {
  while (row.valid() && file.trace.host().kind[row.value] != HostKind::kOp) {
    row = file.index.tree.parent[row.value];
  }
  return row;
}

std::string_view ShapesOf(const Trace& trace, HostId op) {
  const uint32_t detail = trace.host().detail[op.value];
  return detail == kNoDetail ? std::string_view() : trace.Text(trace.ops().input_dims[detail]);
}

std::string_view TypesOf(const Trace& trace, HostId op) {
  const uint32_t detail = trace.host().detail[op.value];
  return detail == kNoDetail ? std::string_view() : trace.Text(trace.ops().input_types[detail]);
}

CapturedSequence SequenceOf(const CaptureFile& file, std::span<const HostId> calls,
                            std::span<const uint32_t> names, CommonTexts& texts) {
  CapturedSequence sequence;
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool is_known = names[i] != kUnknownName;
    sequence.names.push_back(is_known ? texts.Find(file.trace.Text(StringId{names[i]}))
                                      : kUnknownName);
    const HostId op = OperatorAround(file, calls[i]);
    sequence.operators.push_back(op.valid() ? texts.Find(file.trace.Name(op)) : kUnknownName);
    sequence.arguments.push_back(op.valid() ? texts.Find(ShapesOf(file.trace, op)) : kUnknownName);
    sequence.arguments.push_back(op.valid() ? texts.Find(TypesOf(file.trace, op)) : kUnknownName);
  }
  return sequence;
}

}  // namespace

Result<CapturedGraphs> FindCapturedGraphs(std::span<const CaptureFile> files, CommonTexts& texts) {
  CapturedGraphs found;
  for (uint32_t number = 0; number < files.size(); ++number) {
    const CaptureFile& file = files[number];
    const RankView view{0, file.trace, file.index, 1};
    BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
    std::vector<std::vector<HostId>> calls;
    for (GraphCapture& capture : FindGraphCaptures(view, everything)) {
      if (capture.capture_ns == kMissing) continue;
      std::erase_if(capture.calls, [&](HostId call) { return IsCopyName(file.trace.Name(call)); });
      const auto place = static_cast<uint32_t>(calls.size());
      found.graphs.push_back({number, place, capture.begin_ns, capture.calls});
      calls.push_back(std::move(capture.calls));
    }
    const std::vector<std::vector<uint32_t>> names = NamesOfCaptured(view, calls);
    for (size_t i = 0; i < calls.size(); ++i) {
      found.sequences.push_back(SequenceOf(file, calls[i], names[i], texts));
    }
  }
  return found;
}

}  // namespace borescope::internal
