// The table of NVIDIA PyProf 3.11 from the same recording.
#include <string>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/packs/pyprof/columns.h"
#include "borescope/packs/pyprof/formulas/formula.h"
#include "borescope/packs/pyprof/launch_ranges.h"
#include "borescope/packs/pyprof/parse_stage.h"
#include "borescope/packs/pyprof/records.h"
#include "borescope/packs/pyprof/tables.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kStopped = "PyProf stops";  // at a marker, its types, the kernel
constexpr std::string_view kNoSequence = "no sequence number";  // of a backward kernel: it stops

class PyProfTable {
 public:
  explicit PyProfTable(const RankView& view)
      : view_(view),
        markers_(view.trace),
        ranges_(view),
        records_(view, markers_, ranges_),
        table_(NewProfTable()) {}

  // `all` is what is numbered and paired, in order; of the selected the rows are shown.
  Table Build(const std::vector<DeviceId>& all, const Selected& selected);

 private:
  void AddWork(const PyProfRecord& record, ProfRow& row);
  PyProfKernel KernelOf(const PyProfRecord& record) const;

  const RankView& view_;
  PyProfMarkers markers_;
  RangesAround ranges_;
  PyProfRecords records_;
  Table table_;
};

PyProfKernel PyProfTable::KernelOf(const PyProfRecord& record) const {
  PyProfKernel kernel{.name = record.name, .is_backward = record.is_backward, .sub = record.sub};
  const uint32_t detail = view_.trace.device().detail[record.kernel.value];
  if (detail != kNoDetail) {
    kernel.grid_x = view_.trace.kernels().grid_x[detail];
    kernel.grid_y = view_.trace.kernels().grid_y[detail];
  }
  return kernel;
}

std::optional<int64_t> NumberOf(Quantity quantity) {
  const bool fits = quantity.value() <= static_cast<uint64_t>(INT64_MAX);
  return fits ? std::optional(static_cast<int64_t>(quantity.value())) : std::nullopt;
}

void PyProfTable::AddWork(const PyProfRecord& record, ProfRow& row) {
  row.op = record.ops.empty() ? "" : record.ops.front();
  row.mod = record.mods.front();
  row.params = "na=na,";
  row.tc = "na";
  row.status = "no arguments";
  row.flops = row.bytes = 0;
  if (record.is_damaged || (record.is_backward && record.seq.empty())) {
    row.status = record.is_damaged ? kStopped : kNoSequence;
    row.flops = row.bytes = std::nullopt;
  } else if (record.call.valid()) {
    const auto work = PyProfWorkOf(markers_.Of(record.call).call, KernelOf(record));
    row.status = work ? "modelled" : kStopped;
    row.flops = work ? NumberOf(work->flops) : std::nullopt;
    row.bytes = work ? NumberOf(work->bytes) : std::nullopt;
    if (!work) return;
    row.op = work->op;
    row.params = work->params;
    row.tc = work->tc;
  }
}

std::string Underscored(std::string name) {
  for (char& c : name) {
    c = c == ' ' ? '_' : c;
  }
  return name;
}

Table PyProfTable::Build(const std::vector<DeviceId>& all, const Selected& selected) {
  int64_t idx = 0;
  for (const DeviceId id : all) {
    const PyProfRecord record = records_.Next(id);
    if (!selected.Keeps(id)) continue;
    ProfRow row{.kernel = id, .idx = ++idx, .seq = record.seq, .alt_seq = record.alt_seq};
    const HostId anchor = AnchorOf(view_, id);
    if (anchor.valid()) {
      row.tid = view_.trace.tracks().tid[view_.trace.host().track[anchor.value].value];
    }
    row.layer = Joined(record.layers, ":");
    if (record.trace.valid()) row.trace = Joined(markers_.Of(record.trace).frames, ",");
    row.dir = record.is_backward ? "bprop" : "fprop";
    row.sub = record.sub;
    row.name = Underscored(record.name);
    AddWork(record, row);
    PushProfRow(view_, row, table_);
  }
  return std::move(table_);
}

}  // namespace

Result<Tables> MapPyProf(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  const std::vector<DeviceId> all = LaunchOrder(view, everything, false);
  Tables findings;
  findings.push_back(params.Flag(kParseParam) ? ParsedRecords(view, all, selected)
                                              : PyProfTable(view).Build(all, selected));
  return findings;
}

Result<Tables> FinishPyProf(Tables findings, const Params& params) {
  if (params.Flag(kParseParam)) {
    findings[0] = TakeRecords(std::move(findings[0]));
    return findings;
  }
  findings[0] = SelectPyProfColumns(std::move(findings[0]), params.Text(kColumnsParam),
                                    params.Number(kWidthParam) != 0);
  return findings;
}

}  // namespace borescope::internal
