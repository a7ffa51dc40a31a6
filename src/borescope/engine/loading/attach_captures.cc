#include "borescope/engine/loading/attach_captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/captured_work.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {

namespace {

// Appends row `row` of one table to another, with the texts of the other trace.
template <class Table, class Text>
uint32_t CopyRow(const Table& from, uint32_t row, const Text& text, Table& to) {
  ForEachColumn(
      [&](auto& target, const auto& source) {
        using Value = typename std::remove_reference_t<decltype(target)>::value_type;
        if constexpr (std::is_same_v<Value, StringId>) {
          target.push_back(text(source[row]));
        } else {
          target.push_back(source[row]);
        }
      },
      to, from);
  return static_cast<uint32_t>(to.size() - 1);
}

}  // namespace

// By row, so that parents come first. What began before the capture is around the launch, too.
std::vector<uint32_t> CapturedRows::RowsOf(const CapturedGraph& graph) const {
  const CaptureFile& file = files_[graph.file];
  std::set<uint32_t> rows;
  for (HostId row : graph.calls) {
    while (row.valid() && file.trace.host().ts_ns[row.value] >= graph.begin_ns &&
           rows.insert(row.value).second) {
      row = file.index.tree.parent[row.value];
    }
  }
  return {rows.begin(), rows.end()};
}

uint32_t CapturedRows::AddDetail(const Trace& from, uint32_t detail, bool has_arguments) {
  const auto text = [&](StringId id) { return Text(from, id); };
  const uint32_t row = CopyRow(from.ops(), detail, text, data_.ops);
  Ops& ops = data_.ops;
  ops.external_id[row] = kMissing;
  ops.record_function_id[row] = kMissing;
  if (!has_arguments) {
    for (auto* column :
         {&ops.input_dims, &ops.input_types, &ops.input_strides, &ops.concrete_inputs}) {
      (*column)[row] = StringId{0};
    }
  }
  if (ops.collective[row] != kNoDetail) {
    ops.collective[row] = CopyRow(from.collectives(), ops.collective[row], text, data_.collectives);
  }
  if (ops.triton[row] != kNoDetail) {
    ops.triton[row] = CopyRow(from.triton(), ops.triton[row], text, data_.triton);
  }
  return row;
}

HostId CapturedRows::AddRow(const Trace& from, uint32_t row, bool has_arguments, TrackId track) {
  HostEvents& host = data_.host;
  const HostKind kind = from.host().kind[row];
  const uint32_t detail = from.host().detail[row];
  const bool has_detail =
      (kind == HostKind::kOp || kind == HostKind::kAnnotation) && detail != kNoDetail;
  host.ts_ns.push_back(0);
  host.dur_ns.push_back(0);
  host.name.push_back(Text(from, from.host().name[row]));
  host.track.push_back(track);
  host.kind.push_back(kind);
  host.detail.push_back(has_detail ? AddDetail(from, detail, has_arguments) : kNoDetail);
  if (!host.position.empty()) host.position.push_back(kNoPosition);
  ++host.captured;
  return HostId{static_cast<uint32_t>(host.all_size() - 1)};
}

const std::vector<HostId>& CapturedRows::Add(const CapturedGraph& graph, uint32_t number,
                                             bool has_arguments, TrackId track) {
  const auto [place, is_new] = added_.try_emplace({number, has_arguments});
  std::vector<HostId>& calls = place->second;
  if (!is_new) return calls;
  const CaptureFile& file = files_[graph.file];
  std::map<uint32_t, HostId> row_of;
  for (const uint32_t row : RowsOf(graph)) {
    const HostId around = file.index.tree.parent[row];
    const auto parent = around.valid() ? row_of.find(around.value) : row_of.end();
    row_of[row] = AddRow(file.trace, row, has_arguments, track);
    data_.captured.parent.push_back(parent == row_of.end() ? HostId{} : parent->second);
  }
  for (const HostId call : graph.calls) {
    calls.push_back(row_of.at(call.value));
  }
  return calls;
}

namespace {

Result<GraphLaunches> LaunchesOf(const Trace& trace, const TraceIndex& index) {
  const RankView view{0, trace, index, 1};
  if (!HasGraphs(view)) return GraphLaunches{};
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  return FindGraphLaunches(view, everything);
}

std::vector<DeviceId> KernelsOf(const Trace& trace, std::span<const DeviceId> works) {
  std::vector<DeviceId> kernels;
  std::copy_if(works.begin(), works.end(), std::back_inserter(kernels),
               [&](DeviceId id) { return trace.device().kind[id.value] == DeviceKind::kKernel; });
  return kernels;
}

// What is known of one launch before rows are added.
struct Plan {
  HostId launch;
  std::vector<DeviceId> kernels;
  SequenceMatch match;
};

std::vector<Plan> PlansOf(const Trace& trace, const GraphLaunches& launches,
                          const CapturedGraphs& captured, CommonTexts& texts) {
  CaptureMatcher matcher(captured.sequences);
  std::vector<uint32_t> numbers(trace.strings().size(), kUnknownName);
  std::vector<Plan> plans;
  for (const GraphLaunch& launch : launches.launches) {
    Plan plan{launch.call, KernelsOf(trace, launches.WorksOf(launch)), {}};
    if (!launch.call.valid() || plan.kernels.empty()) continue;
    std::vector<uint32_t> names;
    for (const DeviceId id : plan.kernels) {
      uint32_t& number = numbers[trace.device().name[id.value].value];
      number = number == kUnknownName ? texts.Find(trace.Name(id)) : number;
      names.push_back(number);
    }
    plan.match = matcher.Match(names);
    plans.push_back(std::move(plan));
  }
  return plans;
}

void Attach(const Plan& plan, const CapturedGraphs& captured, std::span<const CaptureFile> files,
            CapturedRows& rows, TraceData& data) {
  const SequenceMatch& match = plan.match;
  CaptureMatch& result = data.captured.matches.emplace_back();
  result.launch = plan.launch;
  result.fit = match.fit;
  result.kernels = static_cast<uint32_t>(plan.kernels.size());
  result.file = data.strings.Intern("");
  if (match.fit == CaptureFit::kNone) return;
  const CapturedGraph& graph = captured.graphs[match.capture];
  result.has_arguments = match.has_arguments;
  result.file = data.strings.Intern(files[graph.file].name);
  result.capture = graph.number;
  result.tied = static_cast<uint32_t>(match.pairs.size());
  const std::vector<HostId>& calls =
      rows.Add(graph, match.capture, match.has_arguments, data.host.track[plan.launch.value]);
  for (const auto& [kernel, call] : match.pairs) {
    data.captured.call_of[plan.kernels[kernel].value] = calls[call];
  }
}

}  // namespace

Result<bool> ReplaysGraphs(const Trace& trace, const TraceIndex& index) {
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  return std::any_of(launches.works.begin(), launches.works.end(), [&](DeviceId id) {
    return trace.device().kind[id.value] == DeviceKind::kKernel;
  });
}

Result<bool> CapturesGraphs(const Trace& trace, const TraceIndex& index) {
  const RankView view{0, trace, index, 1};
  if (!HasGraphs(view)) return false;
  BS_ASSIGN(const Selected everything, Selected::Make(view, Selection{}));
  const std::vector<GraphCapture> captures = FindGraphCaptures(view, everything);
  return std::any_of(captures.begin(), captures.end(),
                     [](const GraphCapture& capture) { return !capture.calls.empty(); });
}

Result<bool> OnlyCapturesGraphs(const Trace& trace, const TraceIndex& index) {
  BS_ASSIGN(const bool captures, CapturesGraphs(trace, index));
  if (!captures) return false;
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  return launches.works.empty();
}

Result<Trace> AttachCaptures(Trace trace, const TraceIndex& index,
                             std::span<const CaptureFile> files) {
  BS_ASSIGN(const GraphLaunches launches, LaunchesOf(trace, index));
  if (launches.launches.empty()) return trace;
  CommonTexts texts;
  BS_ASSIGN(const CapturedGraphs captured, FindCapturedGraphs(files, texts));
  const std::vector<Plan> plans = PlansOf(trace, launches, captured, texts);
  TraceData data = std::move(trace).Take();
  data.captured.call_of.resize(data.device.size());
  CapturedRows rows(data, files);
  for (const Plan& plan : plans) {
    Attach(plan, captured, files, rows, data);
  }
  return Trace(std::move(data));
}

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

namespace {

bool IsCapture(const LoadedTrace& file, bool is_named) {
  const Result<bool> is_capture = is_named ? CapturesGraphs(file.trace, file.index)
                                           : OnlyCapturesGraphs(file.trace, file.index);
  return is_capture.ok() && *is_capture;
}

bool IsFor(const CaptureRecording& recording, std::optional<int64_t> wanted) {
  return recording.is_capture &&
         (!recording.rank.has_value() || !wanted.has_value() || *recording.rank == *wanted);
}

CaptureRecording Load(const std::string& path, const std::shared_ptr<TraceStore>& traces,
                      bool is_named, const LoadOptions& options) {
  Result<std::shared_ptr<const LoadedTrace>> loaded =
      LoadTrace(InputFile{.path = path, .store = traces}, {options.threads, {}});
  if (!loaded.ok()) {
    return {.error = loaded.error()};
  }
  const Trace& trace = (*loaded)->trace;
  return {.is_capture = IsCapture(**loaded, is_named),
          .rank = RankClaim{trace.meta().rank, RankFromFileName(path)}.best(),
          .trace = std::move(*loaded)};
}

}  // namespace

CaptureRecording CaptureStore::Get(const std::string& path, bool is_named,
                                   std::optional<int64_t> wanted, const LoadOptions& options) {
  const std::shared_ptr<Entry> entry = EntryOf(path);
  const std::unique_lock lock = LockUnlessStopped(entry->mutex);
  std::optional<CaptureRecording>& known = entry->known;
  const bool is_needed = !known.has_value() || (known->trace == nullptr && IsFor(*known, wanted));
  CaptureRecording recording = is_needed ? Load(path, traces_, is_named, options) : *known;
  known = recording;
  if (!recording.is_capture || recording.rank.has_value()) {
    known->trace = nullptr;
  }
  if (!IsFor(recording, wanted)) {
    recording.trace = nullptr;
  }
  return recording;
}

void CaptureStore::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

std::shared_ptr<CaptureStore::Entry> CaptureStore::EntryOf(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[path];
  if (entry == nullptr) {
    entry = std::make_shared<Entry>();
  }
  return entry;
}

namespace {

struct LoadedCapture {
  std::string path;
  std::shared_ptr<const LoadedTrace> trace;
};

std::optional<int64_t> RankOf(const Trace& trace, const std::string& path) {
  return RankClaim{trace.meta().rank, RankFromFileName(path)}.best();
}

bool IsOther(std::optional<int64_t> rank, std::optional<int64_t> own) {
  return rank.has_value() && own.has_value() && *rank != *own;
}

// Those that capture a graph; of other ranks only whether there are any is of interest.
struct FoundCaptures {
  std::vector<LoadedCapture> own;
  bool any = false;
  // The error of the first that could not be loaded, of which others than those that are no
  // recordings at all come first; and how many are none, which a folder of captures may hold.
  std::optional<Error> unreadable = {};
  size_t skipped = 0;

  bool is_foreign() const {
    return unreadable.has_value() && unreadable->code == ErrorCode::kUnsupportedFormat;
  }
};

FoundCaptures LoadAll(const InputFile& input, const LoadOptions& options, const Trace& trace) {
  const std::optional<int64_t> rank = RankOf(trace, input.path);
  const std::shared_ptr<CaptureStore> store = input.capture_store != nullptr
                                                  ? input.capture_store
                                                  : std::make_shared<CaptureStore>(input.store);
  FoundCaptures found;
  for (const std::string& path : input.captures) {
    CheckStop();
    if (IsOther(RankFromFileName(path), rank)) {
      found.any = true;
      continue;
    }
    CaptureRecording capture = store->Get(path, input.captures_are_named, rank, options);
    if (capture.error.has_value()) {
      const bool is_foreign = capture.error->code == ErrorCode::kUnsupportedFormat;
      found.skipped += is_foreign && input.captures.size() > 1 ? 1 : 0;
      if (!found.unreadable.has_value() || (found.is_foreign() && !is_foreign)) {
        found.unreadable = std::move(capture.error);
      }
    }
    found.any = found.any || capture.is_capture;
    if (capture.trace != nullptr) {
      found.own.push_back({path, std::move(capture.trace)});
    }
  }
  return found;
}

// Whether captures are searched: the recording launches graphs, and does not hold their captures
// itself if none were named.
Result<bool> WantsCaptures(const InputFile& input, const LoadedTrace& loaded) {
  if (input.captures.empty() && input.captures_failure.empty()) return false;
  BS_ASSIGN(const bool replays, ReplaysGraphs(loaded.trace, loaded.index));
  if (!replays || input.captures_are_named) return replays;
  BS_ASSIGN(const bool has_own, CapturesGraphs(loaded.trace, loaded.index));
  return !has_own;
}

void CountMatches(const LoadedTrace& loaded, Diagnostics& diagnostics) {
  uint64_t kernels = 0;
  uint64_t tied = 0;
  uint64_t aligned = 0;
  for (const CaptureMatch& match : loaded.trace.captured().matches) {
    kernels += match.kernels;
    tied += match.tied;
    aligned += match.fit == CaptureFit::kAligned ? match.tied : 0;
  }
  if (tied > 0) {
    diagnostics.CountMany(
        Diag::kCapturedKernels, tied, Diagnostics::kNoByte,
        fmt::format("{} of {} kernels of graphs, {} by exact matches and {} by aligned ones", tied,
                    kernels, tied - aligned, aligned));
  }
  if (tied < kernels) {
    diagnostics.CountMany(Diag::kUncapturedKernels, kernels - tied, Diagnostics::kNoByte,
                          fmt::format("{} of {} kernels of graphs", kernels - tied, kernels));
  }
}

// The paths of the files to which a kernel is tied.
std::vector<std::string> UsedFiles(const Trace& trace) {
  std::set<std::string> used;
  for (const CaptureMatch& match : trace.captured().matches) {
    if (match.tied > 0) used.emplace(trace.Text(match.file));
  }
  return {used.begin(), used.end()};
}

// What may be a capture and is not in the answer.
void CountUnread(const InputFile& input, const FoundCaptures& found, Diagnostics& diagnostics) {
  if (input.captures_are_named) {
    if (found.skipped > 0) {
      diagnostics.CountMany(Diag::kUnreadableFile, found.skipped, Diagnostics::kNoByte,
                            "not used by --captures: " + WithOptions(found.unreadable->Sentence()));
    }
    return;
  }
  std::string why = input.captures_failure;
  // A file beside the recording that is called a capture may be the one that its kernels lack.
  if (why.empty() && found.unreadable.has_value() && !found.is_foreign()) {
    why = found.unreadable->Sentence();
  }
  if (!why.empty()) {
    diagnostics.Count(Diag::kMissingData, Diagnostics::kNoByte, "captures of graphs: " + why);
  }
}

Error NoCapture(const InputFile& input) {
  return UsageError(
      fmt::format("no graph was captured in {}",
                  input.captures.size() == 1 ? input.captures.front()
                                             : fmt::format("{} and {} more", input.captures.front(),
                                                           input.captures.size() - 1)),
      "name the recording of the warm-up in which the graphs were captured", "captures");
}

}  // namespace

Result<void> LoadCaptures(const InputFile& input, const LoadOptions& options, LoadedTrace& loaded) {
  BS_ASSIGN(const bool is_wanted, WantsCaptures(input, loaded));
  if (!is_wanted) return {};
  const FoundCaptures found = LoadAll(input, options, loaded.trace);
  if (!found.any && input.captures_are_named) {
    const bool all_are_foreign = found.skipped > 0 && found.is_foreign();
    return all_are_foreign ? NoCapture(input) : found.unreadable.value_or(NoCapture(input));
  }
  if (found.own.empty() && !input.captures_are_named) {
    CountUnread(input, found, loaded.index.diagnostics);
    return {};
  }
  std::vector<CaptureFile> files;
  files.reserve(found.own.size());
  for (const LoadedCapture& capture : found.own) {
    files.push_back({capture.path, capture.trace->trace, capture.trace->index});
  }
  BS_ASSIGN(loaded.trace, AttachCaptures(std::move(loaded.trace), loaded.index, files));
  loaded.index = BuildIndex(loaded.trace, options.threads);
  loaded.captures = UsedFiles(loaded.trace);
  CountMatches(loaded, loaded.index.diagnostics);
  CountUnread(input, found, loaded.index.diagnostics);
  return {};
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 4096;  // of a folder; more are no captures of one run

bool IsCalledCapture(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return Contains(name, "capture");
}

// What lies beside a recording and may be a capture. Nobody named it: where permissions or links
// hide it, the recording is read all the same, and `failure` says what hides it.
struct Beside {
  std::vector<std::string> files;  // in the order of their names
  std::string failure;
};

// What of one kind is in a folder, is not hidden, and is called a capture where that is asked for.
// `failure` becomes the first that permissions or links hide, if it is empty.
Result<std::vector<fs::path>> ListFolder(const fs::path& folder, FileKind kind, bool by_name,
                                         std::string& failure) {
  const auto keep_first = [&](const Error& error) {
    failure = failure.empty() ? error.Sentence() : failure;
  };
  std::vector<fs::path> found;
  const Result<std::vector<std::string>> names = NamesIfAny(folder.string());
  if (!names.ok() && !MayBeRead(folder.string())) {
    keep_first(names.error());
    return found;
  }
  if (!names.ok()) {
    return names.error();
  }
  for (const std::string& name : *names) {
    if (name.starts_with('.') || (by_name && !IsCalledCapture(name))) {
      continue;
    }
    const fs::path path = folder / name;
    const Result<FileKind> is = KindOf(path.string());
    if (!is.ok()) {
      BS_TRY(StatusOf(path.string()));  // an error of another sort is one of the recording
      keep_first(is.error());
    } else if (*is == FileKind::kNothing) {
      keep_first({ErrorCode::kIo, "the link leads to nothing", {}, path.string()});
    } else if (*is == kind) {
      found.push_back(path);
    }
  }
  return found;
}

Result<Beside> CapturesBeside(const fs::path& folder) {
  Beside beside;
  BS_ASSIGN(std::vector<fs::path> paths, ListFolder(folder, FileKind::kFile, true, beside.failure));
  BS_ASSIGN(const std::vector<fs::path> folders,
            ListFolder(folder, FileKind::kFolder, true, beside.failure));
  for (const fs::path& inner : folders) {
    BS_ASSIGN(const std::vector<fs::path> more,
              ListFolder(inner, FileKind::kFile, false, beside.failure));
    paths.insert(paths.end(), more.begin(), more.end());
  }
  std::vector<std::string>& files = beside.files;
  files.reserve(paths.size());
  for (const fs::path& path : paths) {
    files.push_back(path.lexically_normal().string());
  }
  std::sort(files.begin(), files.end(), NaturalLess);
  files.resize(std::min(files.size(), kMostFiles));
  return beside;
}

fs::path FolderOf(const InputFile& file) {
  const fs::path folder = fs::path(file.path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

Result<std::vector<std::string>> OthersThan(const std::string& path,
                                            const std::vector<std::string>& captures) {
  std::vector<std::string> others;
  for (const std::string& capture : captures) {
    BS_ASSIGN(const bool is_same, IsSameFile(capture, path));
    if (!is_same) {
      others.push_back(capture);
    }
  }
  return others;
}

}  // namespace

Result<void> FindCaptures(std::span<const std::string> named, std::shared_ptr<TraceStore> traces,
                          std::vector<InputFile>& files) {
  BS_ASSIGN(const std::vector<InputFile> found, ExpandInputs(named));
  for (const InputFile& capture : found) {
    BS_ASSIGN(const FileKind kind, KindOf(capture.path));
    if (kind == FileKind::kNothing) {
      return Error{ErrorCode::kIo, "No such file or directory",
                   "check the name given to `captures`", capture.path};
    }
  }
  const auto store = std::make_shared<CaptureStore>(std::move(traces));
  std::map<fs::path, Beside> beside;
  for (InputFile& file : files) {
    const bool is_file = file.content == nullptr && file.path != "-";
    if (!named.empty()) {
      for (const InputFile& capture : found) {
        file.captures.push_back(capture.path);
      }
    } else if (is_file) {
      const auto [place, is_new] = beside.try_emplace(FolderOf(file));
      if (is_new) {
        BS_ASSIGN(place->second, CapturesBeside(place->first));
      }
      file.captures = place->second.files;
      file.captures_failure = place->second.failure;
    }
    if (is_file) {
      BS_ASSIGN(file.captures, OthersThan(file.path, file.captures));
    }
    file.captures_are_named = !named.empty();
    file.capture_store = store;
  }
  return {};
}

}  // namespace borescope::internal
