// prof: one row per kernel, with the operator call whose mathematics it computes, the arguments of
// that call, its layer and its line of Python, and what the call computes and moves.
//
//   operator      from the operators of the recording (modelled_work.h) if they record their
//   shapes,
//                 else from PyProf's markers (marker_work.h)
//   direction     as in modelled_work.h; in recordings whose backward operators do not name their
//                 forward thread (emit_nvtx), by their names: below "MmBackward0" is backward, and
//                 Python that is called there by a function of C++ or by checkpointing is recompute
//   layer, trace  for a backward kernel, those of its forward operator
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/counter_join/counted_work.h"
#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/analysis/measures/flops/counters.h"
#include "borescope/analysis/measures/flops/modelled_work.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/packs/packs.h"
#include "borescope/packs/pyprof/formulas/formula.h"
#include "borescope/packs/pyprof/marker_work.h"
#include "borescope/packs/pyprof/pyprof_rows.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr std::string_view kBackwardCall = "autograd::engine::evaluate_function: ";

// One kernel and what it is counted with.
struct Assigned {
  DeviceId id = {};
  HostId call = {};       // whose kernels are numbered together; may be invalid
  HostId arguments = {};  // marker or operator that has them; may be invalid
  HostId forward = {};    // forward operator of a backward kernel; may be invalid
  bool by_marker = false;
  std::optional<int64_t> sub = {};  // number among the kernels of `call`
  WorkDirection direction = WorkDirection::kUnknown;
};

// A call as columns show it.
struct Described {
  std::string mod = {}, op = {}, params = {};
};

class ProfTable {
 public:
  ProfTable(const RankView& view, ModelledWork modelled, const RankCounters& counters,
            const OpModelOptions& options)
      : view_(view),
        trace_(view.trace),
        modelled_(std::move(modelled)),
        counters_(counters),
        counted_(view, counters, modelled_),
        measured_(view),
        ranges_(view),
        markers_(view.trace),
        marker_work_(view, markers_, options),
        uses_(view.trace.strings().size()) {}

  // `all` are the kernels that are counted, in order; those that are also selected have rows.
  Table Build(const std::vector<DeviceId>& all, const Selected& selected);

 private:
  HostId Anchor(DeviceId id) const;
  Assigned Assign(DeviceId id);
  WorkDirection DirectionOf(const WorkInfo& info, const std::vector<HostId>& ranges);
  HostId ForwardOf(const std::vector<HostId>& ranges);
  bool IsCalledFromPython(HostId row);
  void AddOperator(const Assigned& one, ProfRow& row);
  void AddSequences(const Assigned& one, const std::vector<HostId>& ranges, ProfRow& row) const;
  void AddContext(const std::vector<HostId>& ranges, ProfRow& row);
  void AddWork(const Assigned& one, ProfRow& row);
  void AddModelled(DeviceId id, ProfRow& row);
  void AddCounters(DeviceId id, ProfRow& row);
  void NumberMains();
  void NumberInCall(Assigned& one);
  const Described& Describe(const Assigned& one);
  std::string LayerOf(const std::vector<HostId>& ranges);
  std::string TraceOf(const std::vector<HostId>& ranges);
  bool HasBadMarker(const std::vector<HostId>& ranges);
  MatrixUse UseOf(DeviceId id, bool of_matrix_op);
  ProfRow RowOf(const Assigned& one);

  const RankView& view_;
  const Trace& trace_;
  ModelledWork modelled_;
  const RankCounters& counters_;
  CountedWork counted_;
  MeasuredMatrixUse measured_;
  const RangesAround ranges_;
  PyProfMarkers markers_;
  MarkerWork marker_work_;
  std::optional<ForwardOperators> forward_;     // once needed
  std::vector<std::optional<MatrixUse>> uses_;  // per text, of main kernels of matrix operators
  std::map<std::pair<uint32_t, uint32_t>, int64_t> next_sub_;  // by call and launch of its graph
  // For modelled_: the number of a main kernel among those of its call, and how many there are.
  std::vector<uint32_t> main_index_;             // per device row
  std::vector<uint32_t> mains_;                  // per call
  using DescribedKey = std::array<uint32_t, 4>;  // name, dims, types, values
  std::map<DescribedKey, Described> described_;
};

// Python runs in a backward thread if a function of the user computes gradients, or if forward is
// repeated.
bool ProfTable::IsCalledFromPython(HostId row) {
  if (trace_.host().kind[row.value] != HostKind::kAnnotation) return false;
  const MarkerKind kind = markers_.Of(row).kind;
  return kind == MarkerKind::kArguments || kind == MarkerKind::kTrace;
}

WorkDirection ProfTable::DirectionOf(const WorkInfo& info, const std::vector<HostId>& ranges) {
  bool is_python = false;
  for (size_t i = ranges.size(); i-- > 0;) {
    const HostId row = ranges[i];
    is_python = is_python || IsCalledFromPython(row);
    const uint32_t detail = trace_.host().detail[row.value];
    const bool is_op = trace_.host().kind[row.value] == HostKind::kOp && detail != kNoDetail;
    if (!is_op || !IsBackwardNode(trace_.Name(row))) continue;
    if (trace_.ops().forward_thread[detail] != kMissing) return info.direction;
    const std::string_view name = trace_.Name(row);
    const bool repeats = Contains(name, "Checkpoint") || (name.back() >= '0' && name.back() <= '9');
    return is_python && repeats ? WorkDirection::kRecompute : WorkDirection::kBackward;
  }
  const bool is_forward = info.direction == WorkDirection::kUnknown &&
                          std::any_of(ranges.begin(), ranges.end(),
                                      [&](HostId row) { return IsCalledFromPython(row); });
  return is_forward ? WorkDirection::kForward : info.direction;
}

// The forward operator of the innermost backward operator that has one, by the index, or else by
// sequence number.
HostId ProfTable::ForwardOf(const std::vector<HostId>& ranges) {
  for (size_t i = ranges.size(); i-- > 0;) {
    const HostId forward = view_.index.ForwardOf(ranges[i]);
    if (forward.valid()) return forward;
  }
  for (size_t i = ranges.size(); i-- > 0;) {
    const bool is_op = trace_.host().kind[ranges[i].value] == HostKind::kOp;
    if (!is_op || !IsBackwardNode(trace_.Name(ranges[i]))) continue;
    if (!forward_.has_value()) forward_.emplace(trace_);
    const HostId forward = forward_->Find(ranges[i]);
    if (forward.valid()) return forward;
  }
  return {};
}

HostId InnermostOperator(const Trace& trace, const std::vector<HostId>& ranges) {
  for (size_t i = ranges.size(); i-- > 0;) {
    if (trace.host().kind[ranges[i].value] == HostKind::kOp) return ranges[i];
  }
  return {};
}

// The launch of a kernel; for a kernel of a graph the call in the capture, if there is one.
HostId ProfTable::Anchor(DeviceId id) const {
  const HostId captured = modelled_.captured.LaunchOf(id);
  return captured.valid() ? captured : AnchorOf(view_, id);
}

// Operators are preferred to markers if their cost is known to the byte.
Assigned ProfTable::Assign(DeviceId id) {
  const WorkInfo& info = modelled_.info[id.value];
  const std::vector<HostId> ranges = ranges_.Of(Anchor(id));
  Assigned one{.id = id, .direction = DirectionOf(info, ranges)};
  const bool is_backward = one.direction == WorkDirection::kBackward;
  if (is_backward) one.forward = ForwardOf(ranges);
  const ModelledCall* call = info.call == kNoCall ? nullptr : &modelled_.calls[info.call];
  one.call = call != nullptr ? call->op : InnermostOperator(trace_, ranges);
  one.arguments = call != nullptr ? call->shapes_of : one.call;
  if (call != nullptr && call->cost().status == CostStatus::kOk) return one;
  const HostId own = marker_work_.Choose(ranges);
  const bool is_borrowed = !own.valid() && one.forward.valid();
  const HostId marker = is_borrowed ? marker_work_.Choose(ranges_.Of(one.forward)) : own;
  if (!marker.valid()) return one;
  one.by_marker = true;
  one.arguments = marker;
  if (!is_borrowed) one.call = marker;
  marker_work_.Add(id, one.call, marker, is_borrowed);
  return one;
}

// Cached, since most calls of a training run repeat others.
const Described& ProfTable::Describe(const Assigned& one) {
  const HostEvents& host = trace_.host();
  const uint32_t row = host.detail[one.arguments.value];
  DescribedKey key{host.name[one.arguments.value].value};
  if (host.kind[one.arguments.value] == HostKind::kOp && row != kNoDetail) {
    const Ops& ops = trace_.ops();
    key = {key[0], ops.input_dims[row].value, ops.input_types[row].value,
           ops.concrete_inputs[row].value};
  }
  const auto [found, is_new] = described_.try_emplace(key);
  if (is_new) {
    const PyProfCall call =
        one.by_marker ? markers_.Of(one.arguments).call : CallOfOperator(trace_, one.arguments);
    found->second = {call.mod, call.op, PyProfParams(call)};
  }
  return found->second;
}

void ProfTable::AddOperator(const Assigned& one, ProfRow& row) {
  if (!one.arguments.valid()) return;
  const Described& described = Describe(one);
  row.params = described.params;
  if (one.by_marker) {
    row.mod = described.mod;
    row.op = described.op;
    return;
  }
  // A gradient has its own name, even if its cost comes from the arguments of another operator.
  std::string_view name = trace_.Name(one.call);
  if (name.starts_with(kBackwardCall)) name.remove_prefix(kBackwardCall.size());
  const size_t space = name.rfind("::");
  if (space != std::string_view::npos) row.mod = name.substr(0, space);
  row.op = space == std::string_view::npos ? name : name.substr(space + 2);
}

// The innermost number is that of the operator.
void ProfTable::AddSequences(const Assigned& one, const std::vector<HostId>& ranges,
                             ProfRow& row) const {
  for (size_t i = ranges.size(); i-- > 0 && row.alt_seq.size() < kMostSequences;) {
    const int64_t number = SequenceOf(trace_, ranges[i]);
    const bool is_known = std::find(row.seq.begin(), row.seq.end(), number) != row.seq.end();
    if (number <= 0 || is_known) continue;
    // Sequence numbers of what runs below a backward operator have no meaning for it.
    const bool is_node = IsBackwardNode(trace_.Name(ranges[i]));
    if (one.direction == WorkDirection::kBackward && !is_node) continue;
    (row.seq.empty() ? row.seq : row.alt_seq).push_back(number);
  }
  std::sort(row.alt_seq.begin(), row.alt_seq.end());
  row.alt_seq.erase(std::unique(row.alt_seq.begin(), row.alt_seq.end()), row.alt_seq.end());
}

bool IsOfProfiler(std::string_view annotation) {
  return annotation.starts_with("ProfilerStep#") || annotation.starts_with("Optimizer.");
}

std::string ProfTable::LayerOf(const std::vector<HostId>& ranges) {
  std::vector<std::string> layers;
  std::vector<std::string> modules;
  std::vector<std::string> annotations;
  for (const HostId row : ranges) {
    const std::string_view name = trace_.Name(row);
    const HostKind kind = trace_.host().kind[row.value];
    if (kind == HostKind::kPython && name.starts_with(kModulePrefix)) {
      modules.emplace_back(name.substr(kModulePrefix.size()));
    } else if (kind == HostKind::kAnnotation && !IsOfProfiler(name)) {
      const PyProfMarker& marker = markers_.Of(row);
      if (marker.kind == MarkerKind::kLayer) layers.push_back(marker.layer);
      if (marker.kind == MarkerKind::kOther) annotations.emplace_back(name);
    }
  }
  std::vector<std::string>& shown = !layers.empty()    ? layers
                                    : !modules.empty() ? modules
                                                       : annotations;
  KeepInnermost(shown, kMostFrames);
  return Joined(shown, ":");
}

std::string ProfTable::TraceOf(const std::vector<HostId>& ranges) {
  std::vector<std::string> frames;
  const std::vector<std::string>* marked = nullptr;
  for (const HostId row : ranges) {
    const HostKind kind = trace_.host().kind[row.value];
    if (kind == HostKind::kAnnotation && markers_.Of(row).kind == MarkerKind::kTrace) {
      marked = &markers_.Of(row).frames;
    } else if (kind == HostKind::kPython) {
      std::string frame = FrameText(trace_.Name(row));
      if (!frame.empty() && !IsFrameworkFrame("/" + frame)) frames.push_back(std::move(frame));
    }
  }
  KeepInnermost(frames, kMostFrames);
  return Joined(marked != nullptr ? *marked : frames, ",");
}

void ProfTable::AddContext(const std::vector<HostId>& ranges, ProfRow& row) {
  if (row.layer.empty()) row.layer = LayerOf(ranges);
  if (row.trace.empty()) row.trace = TraceOf(ranges);
}

bool ProfTable::HasBadMarker(const std::vector<HostId>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](HostId row) {
    return trace_.host().kind[row.value] == HostKind::kAnnotation &&
           markers_.Of(row).kind == MarkerKind::kBad;
  });
}

MatrixUse ProfTable::UseOf(DeviceId id, bool of_matrix_op) {
  if (trace_.device().kind[id.value] != DeviceKind::kKernel) return MatrixUse::kNotMatrix;
  std::optional<MatrixUse>& use = uses_[trace_.device().name[id.value].value];
  if (!use.has_value()) {
    use = MatrixUseOf(trace_.Name(id), true);
  }
  const bool is_unknown = *use == MatrixUse::kUnknown && !of_matrix_op;
  return measured_.Of(id, is_unknown ? MatrixUse::kNotMatrix : *use);
}

std::string_view TcText(MatrixUse use) {
  constexpr std::string_view kTexts[] = {"1", "0", "-", "?"};
  return kTexts[static_cast<size_t>(use)];
}

void ProfTable::AddModelled(DeviceId id, ProfRow& row) {
  const WorkInfo& info = modelled_.info[id.value];
  row.status = WorkStatusName(info.status);
  const bool is_main = info.role == KernelRole::kMain;
  const bool is_matrix =
      info.call != kNoCall && IsMatrixFamily(modelled_.calls[info.call].cost().family);
  row.tc = TcText(UseOf(id, is_main && is_matrix));
  if (info.call == kNoCall) return;
  const ModelledCall& call = modelled_.calls[info.call];
  WorkShare share = ShareOfCost(call.cost(), main_index_[id.value], mains_[info.call]);
  if (!is_main && share.flops.has_value()) share = {.flops = 0, .bytes = 0, .status = "helper"};
  const bool is_captured = is_main && share.flops.has_value() && modelled_.IsCaptured(id);
  row.flops = share.flops;
  row.bytes = share.bytes;
  row.status = is_captured ? kCapturedStatus : share.status;
}

void ProfTable::AddWork(const Assigned& one, ProfRow& row) {
  if (!one.by_marker) {
    AddModelled(one.id, row);
    return;
  }
  const WorkShare share = marker_work_.ShareOf(one.id, one.call);
  row.flops = share.flops;
  row.bytes = share.bytes;
  row.status = share.status;
  row.tc = TcText(marker_work_.UseOf(one.id, one.call));
}

std::optional<int64_t> Rounded(const std::optional<double>& amount) {
  constexpr double kLargest = 9e18;
  return amount.has_value() && *amount >= 0 && *amount < kLargest
             ? std::optional(int64_t{std::llround(*amount)})
             : std::nullopt;
}

void ProfTable::AddCounters(DeviceId id, ProfRow& row) {
  if (counters_.empty() || trace_.device().kind[id.value] != DeviceKind::kKernel) return;
  row.source = JoinSourceName(counters_.SourceOf(id));
  const MeasuredKernel* const measured = counters_.MeasuredOf(id);
  if (measured == nullptr) return;
  row.tensor_flops = Rounded(counted_.TensorFlopsOf(id).flops);
  row.dram_read = Rounded(measured->dram_read);
  row.dram_written = Rounded(measured->dram_written);
}

ProfRow ProfTable::RowOf(const Assigned& one) {
  ProfRow row{.kernel = one.id, .name = std::string(trace_.Name(one.id))};
  const HostId anchor = Anchor(one.id);
  const std::vector<HostId> ranges = ranges_.Of(anchor);
  if (anchor.valid()) row.tid = trace_.tracks().tid[trace_.host().track[anchor.value].value];
  row.dir = WorkDirectionName(one.direction);
  row.sub = one.sub;
  AddOperator(one, row);
  AddSequences(one, ranges, row);
  if (one.forward.valid()) AddContext(ranges_.Of(one.forward), row);
  AddContext(ranges, row);
  AddWork(one, row);
  AddCounters(one.id, row);
  if (!row.flops.has_value() && HasBadMarker(ranges)) row.status = "bad marker";
  return row;
}

void ProfTable::NumberMains() {
  main_index_.resize(modelled_.info.size());
  mains_.resize(modelled_.calls.size());
  for (size_t row = 0; row < modelled_.info.size(); ++row) {
    const WorkInfo& info = modelled_.info[row];
    if (info.role == KernelRole::kMain) main_index_[row] = mains_[info.call]++;
  }
}

void ProfTable::NumberInCall(Assigned& one) {
  if (!one.call.valid()) return;
  const CapturedLaunches& captured = modelled_.captured;
  const uint32_t replay =
      captured.LaunchOf(one.id).valid() ? captured.replay_of[one.id.value] + 1 : 0;
  one.sub = next_sub_[{one.call.value, replay}]++;
}

Table ProfTable::Build(const std::vector<DeviceId>& all, const Selected& selected) {
  NumberMains();
  std::vector<Assigned> assigned;
  assigned.reserve(all.size());
  for (const DeviceId id : all) {
    CheckStopAt(assigned.size());
    assigned.push_back(Assign(id));
    NumberInCall(assigned.back());
  }
  Table table = NewProfTable();
  int64_t idx = 0;
  for (const Assigned& one : assigned) {
    CheckStopAt(static_cast<size_t>(idx));
    if (!selected.Keeps(one.id)) continue;
    ProfRow row = RowOf(one);
    row.idx = ++idx;
    PushProfRow(view_, row, table);
  }
  return table;
}

Result<void> CheckParse(const Params& params) {
  const bool has_style = params.Number(kWidthParam) != 0 || params.Flag(kQuotedParam) ||
                         !params.Text(kColumnsParam).empty();
  if (params.compat == Compat::kPyProf && !has_style) return {};
  return has_style ? UsageError("`parse` has one style", "leave out `columns`, `width` and `csv`",
                                "parse")
                   : UsageError("`parse` is of `compat` pyprof", "name both", "parse");
}

Result<void> CheckProf(const Params& params) {
  if (params.Flag(kParseParam)) BS_TRY(CheckParse(params));
  BS_TRY(ModelOptionsOf(params));
  BS_TRY(CheckProfColumns(params.Text(kColumnsParam)));
  const int64_t width = params.Number(kWidthParam);
  if (width == 0) return {};
  if (params.Flag(kQuotedParam)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "`csv` and `width` are two styles",
                 .remedy = "name one",
                 .parameter = "csv"};
  }
  return CheckProfWidth(params.Text(kColumnsParam), width);
}

Result<Tables> MapProf(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  BS_ASSIGN(const OpModelOptions options, ModelOptionsOf(params));
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  BS_ASSIGN(ModelledWork modelled, ModelWork(view, options));
  BS_ASSIGN(const std::shared_ptr<const RankCounters> counters, SharedRankCounters(view));
  const std::vector<DeviceId> all = LaunchOrder(view, everything, params.all);
  Tables findings;
  findings.push_back(ProfTable(view, std::move(modelled), *counters, options).Build(all, selected));
  return findings;
}

Result<Tables> FinishProf(Tables findings, const Params& params) {
  findings[0] = SelectProfColumns(std::move(findings[0]), params.Text(kColumnsParam),
                                  params.Number(kWidthParam) != 0);
  return findings;
}

// PyProf's own styles. Without an option, its columns have blanks between them.
LineForm FormOf(const Params& params) {
  if (params.Flag(kParseParam)) return LineForm::kBare;
  if (params.Number(kWidthParam) != 0) return LineForm::kFixed;
  if (params.Flag(kQuotedParam)) return LineForm::kQuoted;
  return params.compat == Compat::kPyProf ? LineForm::kSpaced : LineForm::kNone;
}

LineStyle LinesOfProf(const Params& params, std::span<const Table> tables) {
  const auto table = std::find_if(tables.begin(), tables.end(),
                                  [](const Table& each) { return each.name == "prof"; });
  if (table == tables.end()) {
    return {};
  }
  LineStyle style{.form = FormOf(params), .table = table->name};
  if (style.form == LineForm::kFixed) {
    style.widths = ProfWidths(*table, params.Number(kWidthParam));
  }
  return style;
}

constexpr const ParamSpec* kProfParams[] = {&kColumnsParam, &kWidthParam,  &kQuotedParam,
                                            &kParseParam,   &kCausalParam, &kSfuWeightParam};

constexpr AnalysisSpec kProfVerb{
    .name = "prof",
    .summary = "every kernel with its operator, arguments, layer, FLOPs and bytes",
    .example = "borescope prof net.sqlite --columns op,params,kernel,sil,flops,bytes",
    .needs = Needs::kDeviceEvents,
    .params = kProfParams,
    .takes_all = true,
    .answer = {.map = MapProf, .reduce = ConcatTables, .finish = FinishProf},
    .check = CheckProf,
    .in_report = false,
    .lines = LinesOfProf};
constexpr PackPipeline kPipelines[] = {{"prof", &kPyProf}};
constexpr PackVerb kVerbs[] = {{.spec = &kProfVerb, .after = "stats"}};

}  // namespace

const Pack kPyProfPack{.tool = Compat::kPyProf, .pipelines = kPipelines, .verbs = kVerbs};

}  // namespace borescope::internal
