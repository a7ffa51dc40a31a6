#include "borescope/analysis/verbs/summary/prices.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/replay/answer.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

struct LeverRow {
  Lever lever;
  std::string_view words;
};
constexpr LeverRow kLeverRows[] = {
    {Lever::kHost, "all of the host's time halved"},
    {Lever::kWaits, "no wait of the host for a device"},
    {Lever::kData, "data loading at its best"},
    {Lever::kLaunches, "launch calls in half their time"},
    {Lever::kComm, "no time in communication"},
    {Lever::kCopies, "no time in copies"},
    {Lever::kKernel, "this kernel in half its time"},
};

std::string_view WordsOf(Lever lever) {
  for (const LeverRow& row : kLeverRows) {
    if (row.lever == lever) {
      return row.words;
    }
  }
  return "";
}

// The kernel with most time of all; of equal ones the first by name. Empty without kernels.
std::string LongestKernel(const Trace& trace) {
  std::vector<int64_t> ns_of(trace.strings().size());
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel) {
      int64_t& sum_ns = ns_of[device.name[row].value];
      sum_ns = AddSaturating(sum_ns, device.dur_ns[row]);
    }
  }
  std::string_view longest;
  int64_t longest_ns = 0;
  for (uint32_t name = 0; name < ns_of.size(); ++name) {
    const std::string_view text = trace.Text({name});
    if (ns_of[name] > longest_ns ||
        (ns_of[name] == longest_ns && ns_of[name] > 0 && text < longest)) {
      longest = text;
      longest_ns = ns_of[name];
    }
  }
  return std::string(longest);
}

Change ChangeOf(Lever lever, const Trace& trace) {
  constexpr double kHalf = 0.5;
  switch (lever) {
    case Lever::kWaits:
      return {.kind = ChangeKind::kNoSync};
    case Lever::kData:
      return {.kind = ChangeKind::kNoDataWait};
    case Lever::kLaunches:
      return {.kind = ChangeKind::kLaunch, .factor = kHalf};
    case Lever::kComm:
      return {.target = TargetKind::kComm, .factor = 0};
    case Lever::kCopies:
      return {.target = TargetKind::kCopy, .factor = 0};
    case Lever::kKernel:
      return {.target = TargetKind::kKernel, .text = LongestKernel(trace), .factor = kHalf};
    case Lever::kHost:
    case Lever::kNone:
      break;
  }
  return {.target = TargetKind::kHost, .factor = kHalf};
}

Table NewPriceTable() {
  Table table{"prices", "What the advice would bring, by replay", {}};
  AddRankKey(table);
  AddString(table, "change", Role::kKey, "What is changed, in words of the findings.");
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  ns("step_ns", "A step as measured, on average; without steps, the recording.");
  ns("new_ns",
     "The same with the change; missing where the replay does not represent the recording.");
  ns("low_ns", "The interval of new_ns, as in whatif.");
  ns("high_ns", "Its upper end.");
  AddFloat(table, "saved_share", Unit::kShare, Role::kDerived, "(step - new) / step.");
  AddString(table, "verdict", Role::kDerived,
            "Of the replay: good, rough, untested or refused, as in whatif.");
  return table;
}

void PushPrice(Table& table, int64_t rank, Lever lever, const ReplayModel& model,
               const std::optional<ScenarioAnswer>& answer) {
  Row row(table);
  row.Int(rank).Text(WordsOf(lever));
  if (answer) {
    row.Int(answer->step_ns).Int(answer->new_ns).Int(answer->low_ns).Int(answer->high_ns);
    row.Share(answer->saved_ns(), answer->step_ns);
  } else {
    row.Missing().Missing().Missing().Missing().Missing();
  }
  const bool is_untested = answer && !answer->is_testable;
  row.Text(ReplayVerdictName(is_untested || model.quality.verdict != ReplayVerdict::kUntested
                                 ? model.quality.verdict
                                 : ReplayVerdict::kGood));
}

std::string Percent(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace

Result<Table> PriceTable(const RankView& view, const Params& params) {
  Table table = NewPriceTable();
  if (!params.Flag(kPriceParam) || view.trace.device().size() == 0) {
    return table;
  }
  const ReplayModel model = MakeReplayModel(view, "");
  const ScenarioRunner runner(view, model, params);
  for (const LeverRow& row : kLeverRows) {
    const Scenario scenario{"", {ChangeOf(row.lever, view.trace)}};
    const Result<ScenarioRun> run = runner.Run(scenario);
    if (run.ok()) {
      PushPrice(table, view.rank, row.lever, model, AnswerScenario(model, scenario, *run));
    } else if (run.error().code != ErrorCode::kMissingData) {
      return run.error();
    }
  }
  return table;
}

std::string PriceWords(const Table& prices, Lever lever) {
  std::optional<size_t> best;
  bool is_asked = false;
  bool has_others = false;
  for (size_t row = 0; row < prices.rows(); ++row) {
    has_others = has_others || Ints(prices, "rank")[row] != Ints(prices, "rank")[0];
    if (Texts(prices, "change")[row] != WordsOf(lever)) {
      continue;
    }
    is_asked = true;
    const bool has_answer = !prices.Find("new_ns")->IsMissing(row);
    if (has_answer &&
        (!best || Floats(prices, "saved_share")[row] > Floats(prices, "saved_share")[*best])) {
      best = row;
    }
  }
  if (!best) {
    return is_asked
               ? " What it would bring cannot be told from this recording: see `borescope whatif`."
               : "";
  }
  const auto step_ns = Ints(prices, "step_ns")[*best];
  const double least = 1 - ShareOf(Ints(prices, "high_ns")[*best], step_ns);
  const double most = 1 - ShareOf(Ints(prices, "low_ns")[*best], step_ns);
  return fmt::format(" By replay{}, {} would save {} % of a step ({} to {} %{}).",
                     has_others ? fmt::format(" of rank {}", Ints(prices, "rank")[*best]) : "",
                     WordsOf(lever), Percent(Floats(prices, "saved_share")[*best]), Percent(least),
                     Percent(most),
                     Texts(prices, "verdict")[*best] == "untested" ? ", not testable here" : "");
}

}  // namespace borescope::internal
