#include "borescope/analysis/verbs/inference/generation.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/graphs/graph_launches.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/opmodel/op_costs.h"
#include "borescope/opmodel/values/op_args.h"

namespace borescope::internal {

namespace {

constexpr size_t kLeastOccurrences = 3;
constexpr size_t kAllowedPart = 10;     // of a pass, one part in so many may differ
constexpr size_t kMostCandidates = 64;  // those with the fewest occurrences

using Symbols = std::span<const uint32_t>;

// The first place of each symbol, and all of them.
struct Occurrences {
  uint32_t symbol = 0;
  bool is_preferred = false;
  std::vector<uint32_t> places;
};

std::vector<Occurrences> CandidatesOf(Symbols symbols, std::span<const char> preferred) {
  std::map<uint32_t, uint32_t> number_of;  // of a symbol, in order of its first place
  std::vector<Occurrences> all;
  for (const uint32_t place : EachRow(symbols.size())) {
    const uint32_t symbol = symbols[place];
    const auto [at, is_new] = number_of.try_emplace(symbol, static_cast<uint32_t>(all.size()));
    if (is_new) {
      all.push_back({symbol, symbol < preferred.size() && preferred[symbol] != 0, {}});
    }
    all[at->second].places.push_back(place);
  }
  std::erase_if(all, [](const Occurrences& o) { return o.places.size() < kLeastOccurrences; });
  std::stable_sort(all.begin(), all.end(), [](const Occurrences& a, const Occurrences& b) {
    return std::tuple(a.places.size(), !a.is_preferred) <
           std::tuple(b.places.size(), !b.is_preferred);
  });
  all.resize(std::min(all.size(), kMostCandidates));
  return all;
}

bool IsLess(Symbols a, Symbols b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

bool AreEqual(Symbols a, Symbols b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// The content that most passes have, the first of equal ones; without two alike the first of median
// length. REQUIRES: there is a pass.
Symbols UsualOf(const std::vector<Symbols>& passes) {
  std::vector<uint32_t> order(passes.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return passes[a].size() != passes[b].size() ? passes[a].size() < passes[b].size()
                                                : IsLess(passes[a], passes[b]);
  });
  uint32_t best = order.front();
  size_t most = 0;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && AreEqual(passes[order[begin]], passes[order[end]]);
         ++end) {
    }
    // Within equal ones the order is that of the passes.
    if (std::tuple(end - begin, order.size() - order[begin]) >
        std::tuple(most, order.size() - best)) {
      most = end - begin;
      best = order[begin];
    }
  }
  if (most > 1) {
    return passes[best];
  }
  const size_t median = passes[order[(order.size() - 1) / 2]].size();
  return *std::find_if(passes.begin(), passes.end(),
                       [median](Symbols pass) { return pass.size() == median; });
}

// What cutting at these places gives, if it is a candidate.
std::optional<Recurrence> CutAt(Symbols symbols, const std::vector<uint32_t>& places) {
  std::vector<Symbols> passes;
  passes.reserve(places.size());
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    passes.push_back(symbols.subspan(places[i], places[i + 1] - places[i]));
  }
  const Symbols usual = UsualOf(passes);
  const Symbols last = symbols.subspan(places.back());
  passes.push_back(last.first(std::min(last.size(), usual.size())));
  const size_t most = (usual.size() + kAllowedPart - 1) / kAllowedPart;
  Recurrence found{places, std::vector<char>(passes.size()), usual.size()};
  size_t alike = 0;
  size_t covered = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    CheckStop();
    const Symbols pass = passes[i];
    const size_t difference =
        std::max(pass.size(), usual.size()) - std::min(pass.size(), usual.size());
    found.is_alike[i] =
        difference <= most && (AreEqual(pass, usual) || EditDistance(pass, usual, most) <= most)
            ? 1
            : 0;
    alike += found.is_alike[i] != 0 ? 1 : 0;
    covered += found.is_alike[i] != 0 ? pass.size() : 0;
  }
  return alike >= 2 && covered * 2 >= symbols.size() ? std::optional(std::move(found))
                                                     : std::nullopt;
}

}  // namespace

size_t Recurrence::unlike() const {
  return static_cast<size_t>(std::count(is_alike.begin(), is_alike.end(), 0));
}

// Myers' greedy search: per diagonal the farthest place that so many edits reach.
size_t EditDistance(Symbols a, Symbols b, size_t most) {
  const auto length_a = static_cast<int64_t>(a.size());
  const auto length_b = static_cast<int64_t>(b.size());
  const auto limit = static_cast<int64_t>(std::min(most, a.size() + b.size()));
  std::vector<int64_t> farthest(static_cast<size_t>(2 * limit + 3), 0);
  const auto at = [&](int64_t diagonal) -> int64_t& {
    return farthest[static_cast<size_t>(diagonal + limit + 1)];
  };
  for (int64_t edits = 0; edits <= limit; ++edits) {
    for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const bool is_insertion =
          diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
      int64_t x = is_insertion ? at(diagonal + 1) : at(diagonal - 1) + 1;
      int64_t y = x - diagonal;
      while (x < length_a && y < length_b &&
             a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      at(diagonal) = x;
      if (x >= length_a && y >= length_b) {
        return static_cast<size_t>(edits);
      }
    }
  }
  return most + 1;
}

std::optional<Recurrence> FindRecurrence(Symbols symbols, std::span<const char> preferred) {
  std::optional<Recurrence> best;
  for (const Occurrences& candidate : CandidatesOf(symbols, preferred)) {
    const size_t count = candidate.places.size();
    const bool is_more = best.has_value() && count * 2 >= best->begins.size() * 3;
    if (best.has_value() && !is_more) {
      continue;
    }
    std::optional<Recurrence> found = CutAt(symbols, candidate.places);
    if (found.has_value() && (!best.has_value() || found->unlike() <= best->unlike())) {
      best = std::move(found);
    }
  }
  return best;
}

namespace {

constexpr size_t kLeastGraphLaunches = 3;
constexpr int64_t kBadPart = 10;  // of pairs of passes, one in so many may not show a token

// Names of host events that only training has.
bool IsOfTraining(std::string_view name) {
  constexpr std::string_view kParts[] = {"evaluate_function: ", "Optimizer.step#", "Backward0",
                                         "Optimizer.zero_grad#"};
  return HasAnyOf(name, kParts);
}

bool HasTraining(const RankView& view) {
  if (!view.index.forward_backward.empty()) {
    return true;
  }
  const std::vector<char> is_training = FlagNames(view.trace.strings(), IsOfTraining);
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (is_training[host.name[row].value] != 0 && host.kind[row] != HostKind::kPython) {
      return true;
    }
  }
  return false;
}

// ---- The sequence of launching operators ----

// By host row: the outermost operator around it, else the row itself. Parents come before their
// children, so that one walk finds all, however deep they nest.
std::vector<HostId> OutermostOperators(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> outermost(host.size());
  for (const uint32_t row : EachRow(host.size())) {
    const HostId parent = view.index.tree.parent[row];
    const HostId above = parent.valid() ? outermost[parent.value] : HostId{};
    const bool is_in_operator = above.valid() && host.kind[above.value] == HostKind::kOp;
    outermost[row] = is_in_operator ? above : HostId{row};
  }
  return outermost;
}

// The operators of a thread that launch device work and are in no other, by time.
struct Launching {
  TrackId thread;
  std::vector<HostId> operators;
};

Launching FindLaunching(const RankView& view) {
  const Trace& trace = view.trace;
  const HostEvents& host = trace.host();
  std::vector<int64_t> time_of(trace.tracks().size());
  std::vector<char> launches(host.size());
  const std::vector<HostId> outermost = OutermostOperators(view);
  for (const uint32_t row : EachRow(trace.device().size())) {
    const HostId launch = view.index.correlation.launch_of[row];
    if (!IsDeviceWork(trace.device().kind[row]) || !launch.valid() || host.IsCaptured(launch)) {
      continue;
    }
    launches[outermost[launch.value].value] = 1;
    AddSaturatingTo(time_of[host.track[launch.value].value], trace.device().dur_ns[row]);
  }
  Launching found;
  const auto most = std::max_element(time_of.begin(), time_of.end());
  if (most == time_of.end() || *most == 0) {
    return found;
  }
  found.thread = TrackId{static_cast<uint32_t>(std::distance(time_of.begin(), most))};
  const Tracks& tracks = trace.tracks();
  for (uint32_t row = tracks.first_row[found.thread.value];
       row < tracks.end_row[found.thread.value]; ++row) {
    if (launches[row] != 0) {
      found.operators.push_back(HostId{row});
    }
  }
  return found;
}

// ---- What shapes say about a pass ----

// What the shapes of an operator show.
enum class Clue : char { kNothing, kAttention, kFlatAttention, kEmbedding, kAppend, kChoice };

Clue ClueOf(std::string_view name) {
  constexpr std::string_view kFlat[] = {"aten::_flash_attention_forward",
                                        "aten::_efficient_attention_forward",
                                        "flash_attn::_flash_attn_forward"};
  if (name == "aten::scaled_dot_product_attention" ||
      name.starts_with("aten::_scaled_dot_product_")) {
    return Clue::kAttention;
  }
  if (std::find(std::begin(kFlat), std::end(kFlat), name) != std::end(kFlat)) {
    return Clue::kFlatAttention;
  }
  return name == "aten::embedding"                               ? Clue::kEmbedding
         : name == "aten::cat"                                   ? Clue::kAppend
         : name == "aten::argmax" || name == "aten::multinomial" ? Clue::kChoice
                                                                 : Clue::kNothing;
}

// Numbers are kMissing where no operator of the pass has them.
struct PassShapes {
  int64_t batch = kMissing;
  int64_t positions = kMissing;  // of queries
  int64_t keys = kMissing;       // positions of keys and values
  int64_t looked_up = kMissing;  // positions whose embedding is looked up
  int64_t ids_batch = kMissing;
  int64_t ids = kMissing;  // length of the token ids that one is appended to
  bool chooses = false;    // argmax, multinomial
};

// Queries [B, H, S, D] and keys [B, H, T, D]; the layout of others is [B, S, H, D].
void AddAttention(const CallArgs& args, size_t positions_at, PassShapes& shapes) {
  const OpTensor* const query = args.Tensor(0);
  const OpTensor* const key = args.Tensor(1);
  if (query == nullptr || key == nullptr || query->rank() != 4 || key->rank() != 4) {
    return;
  }
  const int64_t positions = query->dims[positions_at];
  // A pass may have several kinds of attention (of images, across): the one with most positions
  // counts.
  if (shapes.positions == kMissing || positions > shapes.positions) {
    shapes.positions = positions;
    shapes.batch = query->dims[0];
  }
  shapes.keys = std::max(shapes.keys, key->dims[positions_at]);
}

void AddEmbedding(const CallArgs& args, PassShapes& shapes) {
  const OpTensor* const ids = args.Tensor(1);
  if (ids != nullptr && ids->rank() == 2) {
    shapes.looked_up = std::max(shapes.looked_up, ids->dims[1]);
    shapes.ids_batch = std::max(shapes.ids_batch, ids->dims[0]);
  }
}

// cat([[B, T], [B, 1]]).
void AddAppend(const CallArgs& args, PassShapes& shapes) {
  if (args.size() == 0 || args[0].kind != ArgKind::kTensorList || args[0].tensors.size() != 2) {
    return;
  }
  const OpTensor& ids = args[0].tensors[0];
  const OpTensor& next = args[0].tensors[1];
  if (ids.rank() == 2 && next.rank() == 2 && next.dims[1] == 1 && ids.dims[0] == next.dims[0] &&
      ids.dims[1] > 1) {
    shapes.ids = std::max(shapes.ids, ids.dims[1]);
    shapes.ids_batch = ids.dims[0];
  }
}

// A pass is what its thread did from an operator to another.
std::vector<PassShapes> ShapesOf(const RankView& view, TrackId thread,
                                 std::span<const int64_t> begins_ns) {
  const Trace& trace = view.trace;
  const HostEvents& host = trace.host();
  std::vector<Clue> clues(trace.strings().size());
  for (uint32_t i = 0; i < clues.size(); ++i) {
    clues[i] = ClueOf(trace.Text(StringId{i}));
  }
  std::vector<PassShapes> shapes(begins_ns.size());
  size_t pass = 0;
  for (const uint32_t row :
       EachRow(trace.tracks().first_row[thread.value], trace.tracks().end_row[thread.value])) {
    while (pass + 1 < begins_ns.size() && host.ts_ns[row] >= begins_ns[pass + 1]) {
      ++pass;
    }
    const Clue clue = clues[host.name[row].value];
    if (clue == Clue::kNothing || host.kind[row] != HostKind::kOp ||
        host.ts_ns[row] < begins_ns[pass]) {
      continue;
    }
    const CallArgs args = CallArgsOf(trace, HostId{row});
    switch (clue) {
      case Clue::kAttention:
        AddAttention(args, 2, shapes[pass]);
        break;
      case Clue::kFlatAttention:
        AddAttention(args, 1, shapes[pass]);
        break;
      case Clue::kEmbedding:
        AddEmbedding(args, shapes[pass]);
        break;
      case Clue::kAppend:
        AddAppend(args, shapes[pass]);
        break;
      case Clue::kChoice:
        shapes[pass].chooses = true;
        break;
      case Clue::kNothing:
        break;
    }
  }
  return shapes;
}

bool IsNext(int64_t before, int64_t now) {
  return before != kMissing && now > before && SubtractSaturating(now, before) == 1;
}

// Positions of the pass, by attention, else by embedding.
int64_t PositionsOf(const PassShapes& shapes) {
  return shapes.positions != kMissing ? shapes.positions : shapes.looked_up;
}

StepNotes NotesOf(const PassShapes& before, const PassShapes& now) {
  const int64_t positions = PositionsOf(now);
  const int64_t batch = now.batch != kMissing ? now.batch : now.ids_batch;
  const auto times = [](int64_t a, int64_t b) {
    int64_t product = 0;
    return a == kMissing || b == kMissing || __builtin_mul_overflow(a, b, &product) ? kMissing
                                                                                    : product;
  };
  StepNotes notes;
  const bool has_ids = positions == kMissing && now.ids != kMissing;
  const bool is_decode = positions == 1 || (has_ids && IsNext(before.ids, now.ids));
  if (positions == kMissing && !has_ids) {
    return notes;
  }
  notes.requests = batch;
  notes.phase = is_decode ? InferencePhase::kDecode : InferencePhase::kPrefill;
  notes.tokens = is_decode ? batch : times(batch, has_ids ? now.ids : positions);
  notes.decode_requests = is_decode ? batch : 0;
  notes.decode_tokens = is_decode ? batch : 0;
  notes.prefill_tokens = is_decode ? 0 : notes.tokens;
  notes.kv_tokens = times(batch, now.keys);
  return notes;
}

// Whether a token came between two decode passes.
bool ShowsToken(const PassShapes& before, const PassShapes& now) {
  const bool grows = IsNext(before.keys, now.keys) || IsNext(before.ids, now.ids);
  const bool looks_up = before.looked_up == 1 && now.looked_up == 1;
  const bool chooses = before.chooses && now.chooses;
  const bool is_fixed = now.keys == before.keys;
  return grows || (looks_up && chooses && is_fixed);
}

bool HasRecordedShapes(const Trace& trace) {
  const auto& dims = trace.ops().input_dims;
  return std::any_of(dims.begin(), dims.end(),
                     [&](StringId id) { return !trace.Text(id).empty(); });
}

bool KnowsAny(const std::vector<PassShapes>& shapes) {
  return std::any_of(shapes.begin(), shapes.end(), [](const PassShapes& pass) {
    return PositionsOf(pass) != kMissing || pass.ids != kMissing;
  });
}

// Why passes that recur are no generation; empty where they are one.
std::string Doubt(const RankView& view, const std::vector<PassShapes>& shapes,
                  const std::vector<GenerationPass>& passes) {
  if (!KnowsAny(shapes)) {
    const bool may_have = IsOfPyTorchProfiler(view.trace.meta().format);
    return std::string(
               "what is launched recurs, but no shapes of attention, embedding or token "
               "ids say whether each pass makes a token") +
           (may_have && !HasRecordedShapes(view.trace) ? ": record with record_shapes=True" : "");
  }
  int64_t pairs = 0;
  int64_t bad = 0;
  for (size_t i = 1; i < passes.size(); ++i) {
    if (passes[i].notes.phase == InferencePhase::kDecode &&
        passes[i - 1].notes.phase == InferencePhase::kDecode) {
      ++pairs;
      bad += ShowsToken(shapes[i - 1], shapes[i]) ? 0 : 1;
    }
  }
  if (pairs == 0) {
    return "passes recur, but none for single tokens";
  }
  return bad * kBadPart > pairs ? "passes for single positions recur, but nothing in them grows by "
                                  "a token from one to the next"
                                : "";
}

// ---- Without shapes: frames of Python ----

// The calls of `generate` of Hugging Face on a thread.
std::vector<Interval> CallsOfGenerate(const RankView& view, TrackId thread) {
  const Trace& trace = view.trace;
  const std::vector<char> is_call = FlagNames(trace.strings(), [](std::string_view name) {
    return Contains(name, "generation/utils.py(") && name.ends_with("): generate");
  });
  std::vector<Interval> calls;
  for (uint32_t row = trace.tracks().first_row[thread.value];
       row < trace.tracks().end_row[thread.value]; ++row) {
    const HostEvents& host = trace.host();
    const bool is_inside = !calls.empty() && host.ts_ns[row] < calls.back().end;
    if (host.kind[row] == HostKind::kPython && is_call[host.name[row].value] != 0 && !is_inside) {
      calls.push_back({host.ts_ns[row], host.end_ns(HostId{row})});
    }
  }
  return calls;
}

// The first pass that begins in a call reads the prompt, the others decode. The number of requests
// is unknown. Passes outside of calls keep the phase "other".
void DivideByCalls(const RankView& view, const std::vector<Interval>& calls,
                   std::vector<GenerationPass>& passes) {
  size_t pass = 0;
  for (const Interval& call : calls) {
    const auto begin_ns = [&] { return view.trace.host().ts_ns[passes[pass].begin.value]; };
    while (pass < passes.size() && begin_ns() < call.begin) {
      ++pass;
    }
    for (bool is_first = true; pass < passes.size() && begin_ns() < call.end; ++pass) {
      passes[pass].notes.phase = is_first ? InferencePhase::kPrefill : InferencePhase::kDecode;
      passes[pass].end_ns = std::min(passes[pass].end_ns, call.end);
      is_first = false;
    }
  }
}

bool HasDecode(const std::vector<GenerationPass>& passes) {
  return std::any_of(passes.begin(), passes.end(), [](const GenerationPass& pass) {
    return pass.notes.phase == InferencePhase::kDecode;
  });
}

// ---- Graphs ----

bool ReadsCache(std::string_view name) {
  constexpr std::string_view kParts[] = {
      "reshape_and_cache", "concat_and_cache", "store_kvcache",    "kv_buffer", "paged",
      "splitkv",           "decode",           "unified_attention"};
  return HasAnyOf(LowerCase(name), kParts);
}

bool IsKernelOfTraining(std::string_view name) {
  constexpr std::string_view kParts[] = {"backward",           "_bwd", "bwd_", "adam",
                                         "multi_tensor_apply", "grad"};
  return HasAnyOf(LowerCase(name), kParts);
}

}  // namespace

Generation FindGeneration(const RankView& view) {
  Generation found;
  if (HasTraining(view)) {
    found.reason = "a backward pass or an optimizer was recorded: this is training";
    return found;
  }
  const Launching launching = FindLaunching(view);
  std::vector<uint32_t> symbols;
  symbols.reserve(launching.operators.size());
  for (const HostId id : launching.operators) {
    symbols.push_back(view.trace.host().name[id.value].value);
  }
  const std::vector<char> starts = FlagNames(
      view.trace.strings(), [](std::string_view name) { return name == "aten::embedding"; });
  const std::optional<Recurrence> recurrence = FindRecurrence(symbols, starts);
  if (!recurrence.has_value()) {
    found.reason = "no step of an inference server is annotated, and no pass of a model recurs";
    return found;
  }
  const HostEvents& host = view.trace.host();
  std::vector<uint32_t> begins = recurrence->begins;
  const bool has_rest = begins.front() > 0;
  if (has_rest) {
    begins.insert(begins.begin(), 0);  // what comes before may be a prefill, cut elsewhere
  }
  std::vector<int64_t> begins_ns(begins.size());
  std::transform(begins.begin(), begins.end(), begins_ns.begin(),
                 [&](uint32_t begin) { return host.ts_ns[launching.operators[begin].value]; });
  found.passes.reserve(begins.size());
  const std::vector<PassShapes> shapes = ShapesOf(view, launching.thread, begins_ns);
  for (size_t i = 0; i < begins.size(); ++i) {
    const bool is_last = i + 1 == begins.size();
    const int64_t end_ns = is_last ? std::numeric_limits<int64_t>::max() : begins_ns[i + 1];
    found.passes.push_back({launching.operators[begins[i]], end_ns, is_last,
                            NotesOf(i > 0 ? shapes[i - 1] : PassShapes(), shapes[i])});
  }
  if (has_rest && found.passes.front().notes.phase == InferencePhase::kDecode) {
    found.passes.front().notes = StepNotes();  // of a pass that begins before the recording
  }
  found.reason = Doubt(view, shapes, found.passes);
  if (!found.reason.empty() && !KnowsAny(shapes)) {
    if (has_rest) {
      found.passes.erase(found.passes.begin());
    }
    DivideByCalls(view, CallsOfGenerate(view, launching.thread), found.passes);
    found.reason = HasDecode(found.passes) ? "" : found.reason;
  }
  if (!found.reason.empty()) {
    found.passes.clear();
    return found;
  }
  // A prompt begins another generation: between lies what the program does beside.
  for (size_t i = 0; i + 1 < found.passes.size(); ++i) {
    found.passes[i].is_last = found.passes[i].notes.phase == InferencePhase::kDecode &&
                              found.passes[i + 1].notes.phase != InferencePhase::kDecode;
  }
  std::erase_if(found.passes, [](const GenerationPass& pass) {
    return pass.notes.phase == InferencePhase::kOther;
  });
  return found;
}

Generation FindGraphDecode(const RankView& view, const Selected& selected) {
  Generation found;
  const GraphLaunches graphs = FindGraphLaunches(view, selected);
  const Trace& trace = view.trace;
  const std::vector<char> reads_cache = FlagNames(trace.strings(), ReadsCache);
  const std::vector<char> is_training = FlagNames(trace.strings(), IsKernelOfTraining);
  std::vector<size_t> launches(graphs.graphs.size());
  std::vector<char> reads(graphs.graphs.size());
  std::vector<char> trains(graphs.graphs.size());
  for (const GraphLaunch& launch : graphs.launches) {
    launches[launch.graph] += launch.call.valid() ? 1 : 0;
    for (const DeviceId id : graphs.WorksOf(launch)) {
      const uint32_t name = trace.device().name[id.value].value;
      reads[launch.graph] |= reads_cache[name];
      trains[launch.graph] |= is_training[name];
    }
  }
  const bool has_training = HasTraining(view);
  found.passes.reserve(graphs.launches.size());
  for (const GraphLaunch& launch : graphs.launches) {
    if (!has_training && launch.call.valid() && launches[launch.graph] >= kLeastGraphLaunches &&
        reads[launch.graph] != 0 && trains[launch.graph] == 0) {
      StepNotes notes;
      notes.phase = InferencePhase::kDecode;
      found.passes.push_back({launch.call, trace.host().end_ns(launch.call), false, notes});
    }
  }
  if (!found.passes.empty()) {
    found.passes.back().is_last = true;
  }
  return found;
}

}  // namespace borescope::internal
