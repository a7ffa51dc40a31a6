#include "borescope/verbs/open/served_timeline.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/index/steps/steps.h"
#include "borescope/output/html/html_timeline.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {
namespace {

constexpr int64_t kMostBytes = 2'000'000;  // of boxes and points in one answer
constexpr std::string_view kJson = "application/json";

// A number of a query; nothing where it is none.
std::optional<int64_t> ParseTime(std::string_view digits) {
  const bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
  if (!is_number) {
    return std::nullopt;
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? number : INT64_MAX;
}

// The members of a query, in the order of kMembers.
constexpr std::string_view kMembers[] = {"begin", "end", "grain"};
using QueryTimes = std::array<std::optional<int64_t>, std::size(kMembers)>;

// Whether it is a member that was not given before, with a time.
bool TakeMember(std::string_view member, QueryTimes& times) {
  const size_t equals = member.find('=');
  const auto* const name =
      std::find(std::begin(kMembers), std::end(kMembers), member.substr(0, equals));
  if (equals == std::string_view::npos || name == std::end(kMembers)) {
    return false;
  }
  std::optional<int64_t>& time = times[static_cast<size_t>(name - std::begin(kMembers))];
  if (time.has_value()) {
    return false;
  }
  time = ParseTime(member.substr(equals + 1));
  return time.has_value();
}

MadeAnswer Refusal() {
  return {"text/plain",
          std::make_shared<const std::string>(
              "Ask for timeline?begin=NS&end=NS&grain=NS: whole nanoseconds from the begin of the "
              "timeline, the end not before the begin.\n"),
          true};
}

// The same for whoever draws from it; what was selected of the trace, as in the page.
Result<Params> ParamsOf(const Params& params, const Trace& trace) {
  Params of_rank = params;
  if (trace.meta().cut.has_value()) {
    BS_ASSIGN(of_rank.selection, WithinCut(params.selection, trace));
  }
  return of_rank;
}

int64_t IntCell(const Table& table, std::string_view column, size_t row) {
  return std::get<IntValues>(table.Find(column)->values)[row];
}

// Whether level 0 of the page has all of every rank.
bool IsAllExact(const Table& ranks) {
  const auto& is_cut = std::get<BoolValues>(ranks.Find("window_cut")->values);
  for (size_t row = 0; row < ranks.rows(); ++row) {
    const int64_t begin_ns = IntCell(ranks, "shift_ns", row);
    const int64_t end_ns = AddSaturating(begin_ns, IntCell(ranks, "span_ns", row));
    if (is_cut[row] != 0 || IntCell(ranks, "window_begin_offset_ns", row) > begin_ns ||
        IntCell(ranks, "window_end_offset_ns", row) < end_ns) {
      return false;
    }
  }
  return true;
}

// The recording of a rank, if it is kept.
std::shared_ptr<const LoadedTrace> KeptTrace(int64_t rank, const Report& report,
                                             const RunOptions& options) {
  for (size_t i = 0; i < options.files.size() && i < report.files.size(); ++i) {
    const FileInfo& file = report.files[i];
    if (file.rank == rank && file.error.empty()) {
      return options.cache->Kept(options.files[i].path);
    }
  }
  return nullptr;
}

}  // namespace

std::optional<AskedStretch> ParseStretch(std::string_view query) {
  QueryTimes times;
  while (!query.empty()) {
    const std::string_view member = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(member.size() + 1, query.size()));
    if (!TakeMember(member, times)) {
      return std::nullopt;
    }
  }
  const auto [begin, end, grain] = times;
  if (!begin.has_value() || !end.has_value() || *begin > *end) {
    return std::nullopt;
  }
  return AskedStretch{{*begin, *end}, grain.value_or(0)};
}

// What is found of one rank once.
struct ServedTimeline::Tracks {
  int64_t shift_ns = 0;
  std::unique_ptr<const Steps> steps;  // of --step-pattern; nullptr: those of the index
  std::optional<RankStretches> stretches;
};

ServedTimeline::ServedTimeline(std::vector<Rank> ranks, Params params)
    : ranks_(std::move(ranks)), params_(std::move(params)) {}
ServedTimeline::~ServedTimeline() = default;

Result<ServedTimeline::Tracks> ServedTimeline::Find(const Rank& rank) const {
  const Trace& trace = rank.trace->trace;
  Tracks tracks{rank.shift_ns, nullptr, std::nullopt};
  RankView view{rank.rank, trace, rank.trace->index};
  if (const std::string& pattern = params_.selection.step_pattern; !pattern.empty()) {
    BS_ASSIGN(Steps steps, MatchSteps(trace, rank.trace->index.correlation, pattern));
    tracks.steps = std::make_unique<const Steps>(std::move(steps));
    view.matched_steps = tracks.steps.get();
  }
  BS_ASSIGN(const Params params, ParamsOf(params_, trace));
  BS_ASSIGN(RankStretches stretches, RankStretches::Make(view, params));
  tracks.stretches.emplace(std::move(stretches));
  return tracks;
}

// A rank that cannot be drawn is left out: the page goes on with what it has of it.
const std::vector<ServedTimeline::Tracks>& ServedTimeline::Found() const {
  std::call_once(once_, [this] {
    found_.clear();  // of a call that ran out of memory
    for (const Rank& rank : ranks_) {
      if (Result<Tracks> tracks = Find(rank); tracks.ok()) {
        found_.push_back(std::move(*tracks));
      }
    }
  });
  return found_;
}

std::vector<Timeline> ServedTimeline::Draw(const AskedStretch& asked) const {
  const std::vector<Tracks>& found = Found();
  const int64_t room = kMostBytes / static_cast<int64_t>(std::max<size_t>(1, found.size()));
  std::vector<Timeline> timelines;
  for (const Tracks& tracks : found) {
    AskedStretch of_rank = asked;
    of_rank.span.begin_ns = SubtractSaturating(asked.span.begin_ns, tracks.shift_ns);
    of_rank.span.end_ns = SubtractSaturating(asked.span.end_ns, tracks.shift_ns);
    timelines.push_back(tracks.stretches->Draw(of_rank, room));
    ShiftTimeline(tracks.shift_ns, timelines.back());
  }
  return timelines;
}

MadeAnswer ServedTimeline::Answer(std::string_view query) const {
  const std::optional<AskedStretch> asked = ParseStretch(query);
  if (!asked.has_value()) {
    return Refusal();
  }
  std::vector<Timeline> timelines = Draw(*asked);
  StringSink sink;
  const Result<void> written = timelines.empty()
                                   ? sink.Write("null")
                                   : WriteStretch(TimelineTables(std::move(timelines)), sink);
  return {std::string(kJson),
          std::make_shared<const std::string>(written.ok() ? sink.text() : "null")};
}

std::shared_ptr<const ServedTimeline> TimelineToServe(const Report& report,
                                                      const RunOptions& options) {
  if (report.page.timeline.empty() || options.cache == nullptr ||
      options.timeline != kWindowTimeline || IsAllExact(report.page.timeline.front())) {
    return nullptr;
  }
  const Table& drawn = report.page.timeline.front();
  std::vector<ServedTimeline::Rank> ranks;
  for (size_t row = 0; row < drawn.rows(); ++row) {
    const int64_t rank = IntCell(drawn, "rank", row);
    if (std::shared_ptr<const LoadedTrace> trace = KeptTrace(rank, report, options)) {
      ranks.push_back({rank, IntCell(drawn, "shift_ns", row), std::move(trace)});
    }
  }
  if (ranks.empty()) {
    return nullptr;
  }
  MappedQuestion asked = QuestionOfReport(options.params, options.ranks, options.timeline);
  return std::make_shared<const ServedTimeline>(std::move(ranks), std::move(asked.params));
}

}  // namespace borescope::internal
