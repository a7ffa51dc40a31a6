// cuda_gpu_trace: a row for each kernel, memcpy and memset, by start.
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/stats/stats_reports.h"

namespace borescope::internal {
namespace {

void AddColumns(Table& table) {
  const auto integer = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNone, Role::kDerived, doc);
  };
  AddInt(table, "rank", Unit::kNone, Role::kKey,
         "Rank of the process in the job; left out where there is one.");
  integer("Start (ns)", "Start, on the clock of the file.");
  integer("Duration (ns)", "Duration.");
  integer("CorrId", "Number that ties it to its call.");
  for (const std::string_view name : {"GrdX", "GrdY", "GrdZ"}) {
    integer(name, "Blocks of the grid.");
  }
  for (const std::string_view name : {"BlkX", "BlkY", "BlkZ"}) {
    integer(name, "Threads of a block.");
  }
  integer("Reg/Trd", "Registers per thread.");
  const auto number = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kNone, Role::kDerived, doc);
  };
  number("StcSMem (MB)", "Missing: static and dynamic shared memory are kept together.");
  number("DymSMem (MB)", "Missing: static and dynamic shared memory are kept together.");
  number("SMem (MB)", "Shared memory of a block, static and dynamic; no column of nsys.");
  number("Bytes (MB)", "Bytes copied or set.");
  number("Throughput (MB/s)", "Bytes / duration.");
  AddString(table, "SrcMemKd", Role::kDerived, "Kind of memory copied from.");
  AddString(table, "DstMemKd", Role::kDerived, "Kind of memory copied or written to.");
  AddString(table, "Device", Role::kDerived, "Name of the device where recorded, and its number.");
  integer("Ctx", "Missing: contexts are not kept.");
  integer("GreenCtx", "Missing: contexts are not kept.");
  integer("Strm", "Stream.");
  AddString(table, "Name", Role::kDerived, "Name of the kernel, or kind of the copy.");
}

void PushPart(Row& row, int64_t value) { value < 0 ? row.Missing() : row.Int(value); }

// Grid to shared memory; nothing of a kernel whose producer did not tell.
void PushShape(Row& row, const Kernels& kernels, uint32_t detail) {
  if (detail == kNoDetail) {
    for (int i = 0; i < 10; ++i) {
      row.Missing();
    }
    return;
  }
  for (const auto* column : {&kernels.grid_x, &kernels.grid_y, &kernels.grid_z, &kernels.block_x,
                             &kernels.block_y, &kernels.block_z, &kernels.registers}) {
    PushPart(row, (*column)[detail]);
  }
  row.Missing().Missing();
  const int32_t shared = kernels.shared_bytes[detail];
  shared < 0 ? row.Missing() : row.Float(static_cast<double>(shared) / kMegabyte);
}

// "Memcpy HtoD (Pinned -> Device)": source and target; "Memset (Device)": the target.
std::pair<std::string_view, std::string_view> MemoryKinds(std::string_view name) {
  const size_t begin = name.find('(');
  const size_t end = name.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return {};
  }
  const std::string_view kinds = name.substr(begin + 1, end - begin - 1);
  constexpr std::string_view kArrow = " -> ";
  const size_t arrow = kinds.find(kArrow);
  if (arrow == std::string_view::npos) {
    return {{}, kinds};
  }
  return {kinds.substr(0, arrow), kinds.substr(arrow + kArrow.size())};
}

void PushBytes(Row& row, const RankView& view, DeviceId id) {
  const int64_t bytes = CopyBytes(view.trace, id);
  if (bytes == kMissing) {
    row.Missing().Missing();
    return;
  }
  row.Float(static_cast<double>(bytes) / kMegabyte);
  const int64_t dur_ns = view.trace.device().dur_ns[id.value];
  dur_ns == 0 ? row.Missing()
              : row.Float(static_cast<double>(bytes) / static_cast<double>(dur_ns) * 1e3);
}

// "NVIDIA A100 (0)", or "0" where no name was recorded.
std::map<int64_t, std::string> DeviceLabels(const Trace& trace) {
  std::map<int64_t, std::string> labels;
  for (const DeviceInfo& device : trace.meta().devices) {
    if (!device.name.empty()) {
      labels.emplace(device.id, fmt::format("{} ({})", device.name, device.id));
    }
  }
  return labels;
}

void PushWork(Table& table, const RankView& view, DeviceId id,
              const std::map<int64_t, std::string>& labels) {
  const DeviceEvents& device = view.trace.device();
  const bool is_kernel = device.kind[id.value] == DeviceKind::kKernel;
  Row row(table);
  row.Int(view.rank).Int(device.ts_ns[id.value]).Int(device.dur_ns[id.value]);
  row.MaybeInt(device.correlation[id.value]);
  PushShape(row, view.trace.kernels(), is_kernel ? device.detail[id.value] : kNoDetail);
  PushBytes(row, view, id);
  const std::pair<std::string_view, std::string_view> kinds =
      is_kernel ? std::pair<std::string_view, std::string_view>()
                : MemoryKinds(view.trace.Name(id));
  row.MaybeText(kinds.first).MaybeText(kinds.second);
  const auto label = labels.find(view.trace.DeviceOf(id));
  row.Text(label == labels.end() ? fmt::format("{}", view.trace.DeviceOf(id)) : label->second);
  row.Missing().Missing().Int(view.trace.StreamOf(id));
  row.Text(is_kernel ? view.trace.Name(id) : NsysCopyName(view, id));
}

}  // namespace

Table CollectTrace(Table table, const RankView& view, const Selected& selected) {
  AddColumns(table);
  table.preview_rows = 20;
  const std::map<int64_t, std::string> labels = DeviceLabels(view.trace);
  for (const DeviceId id : WorkByStart(view, selected)) {
    PushWork(table, view, id, labels);
  }
  return table;
}

}  // namespace borescope::internal
