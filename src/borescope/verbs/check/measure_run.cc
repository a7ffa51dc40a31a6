#include "borescope/verbs/check/measure_run.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/statistics/statistics.h"
#include "borescope/catalog/catalog.h"
#include "borescope/verbs/check/measure_budgets.h"

namespace borescope::internal {

namespace {

// Position of each step among those that are compared; nothing for others.
std::map<int64_t, size_t> PositionsOf(const RunSteps& steps) {
  std::map<int64_t, size_t> positions;
  for (const int64_t step : steps.compared) {
    positions.emplace(step, positions.size());
  }
  return positions;
}

MetricValue& ValueOf(RunValues& run, std::string_view kind, std::string_view name, size_t steps) {
  MetricValue& value = run.metrics[{std::string(kind), std::string(name)}];
  value.steps.resize(steps);
  return value;
}

// Adds the cells of a column to the steps of their rows.
void AddBySteps(const Table& table, std::string_view column,
                const std::map<int64_t, size_t>& positions, std::vector<double>& sums,
                std::vector<double>& rows) {
  const Column& step = *table.Find("step");
  const IntValues& cells = Ints(table, column);
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto found = positions.find(Ints(table, "step")[row]);
    if (!step.IsMissing(row) && found != positions.end()) {
      sums[found->second] += static_cast<double>(cells[row]);
      rows[found->second] += 1;
    }
  }
}

// The mean without the largest: one stall is an accident, and where there are more of them they are
// the program's. A median would not see steps that are slow now and then.
double UsualOf(const std::vector<double>& steps) {
  const double largest = *std::max_element(steps.begin(), steps.end());
  const double sum = std::accumulate(steps.begin(), steps.end(), 0.0);
  const auto count = static_cast<double>(steps.size());
  return steps.size() < 3 ? sum / count : (sum - largest) / (count - 1);
}

}  // namespace

RunSteps StepsToCompare(const Table& steps) {
  std::map<int64_t, std::pair<int64_t, int64_t>> first;  // by rank: begin, step
  RunSteps compared;
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (steps.Find("step")->IsMissing(row)) {
      continue;
    }
    const std::pair<int64_t, int64_t> begin = {Ints(steps, "begin_ns")[row],
                                               Ints(steps, "step")[row]};
    const auto [entry, is_new] = first.try_emplace(Ints(steps, "rank")[row], begin);
    entry->second = std::min(entry->second, begin);
    compared.compared.insert(begin.second);
  }
  for (const auto& [rank, begin] : first) {
    if (compared.compared.size() > 1) {
      compared.compared.erase(begin.second);
    }
  }
  return compared;
}

void AddStepTimes(const Table& steps, const RunSteps& compared, RunValues& run) {
  constexpr std::pair<std::string_view, std::string_view> kTimes[] = {{"length_ns", kStepMetric},
                                                                      {"span_ns", kHostMetric}};
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  for (const auto& [column, kind] : kTimes) {
    MetricValue& value = ValueOf(run, kind, "", positions.size());
    for (size_t row = 0; row < steps.rows(); ++row) {
      const auto found = positions.find(Ints(steps, "step")[row]);
      if (!steps.Find("step")->IsMissing(row) && found != positions.end()) {
        double& slowest = value.steps[found->second];
        slowest = std::max(slowest, static_cast<double>(Ints(steps, column)[row]));
      }
    }
  }
  run.steps = static_cast<int64_t>(positions.size());
}

void AddCalls(const Table& steps, const RunSteps& compared, RunValues& run) {
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  for (const std::string_view column : {"kernels", "copies"}) {
    MetricValue& value = ValueOf(run, kCallsMetric, column, positions.size());
    value.unit = Unit::kCount;
    std::vector<double> rows(positions.size());
    AddBySteps(steps, column, positions, value.steps, rows);
    for (double& calls : value.steps) {
      calls /= static_cast<double>(std::max<int64_t>(run.ranks, 1));
    }
  }
}

void AddDeviceParts(const Table& breakdown, const RunSteps& compared, RunValues& run) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"busy_ns", kBusyTime},
      {"compute_ns", "compute"},
      {"exposed_comm_ns", "exposed communication"},
      {"exposed_copy_ns", "exposed copies"},
      {"idle_ns", "idle"}};
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  for (const auto& [column, name] : kParts) {
    MetricValue& value = ValueOf(run, kDeviceMetric, name, positions.size());
    std::vector<double> rows(positions.size());
    AddBySteps(breakdown, column, positions, value.steps, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      value.steps[i] /= std::max(rows[i], 1.0);
    }
  }
}

void AddWorkTimes(const Table& table, std::string_view kind, std::string_view key,
                  const RunSteps& compared, RunValues& run) {
  const std::map<int64_t, size_t> positions = PositionsOf(compared);
  const Column& step = *table.Find("step");
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto found = positions.find(Ints(table, "step")[row]);
    if (!step.IsMissing(row) && found != positions.end()) {
      MetricValue& value = ValueOf(run, kind, Texts(table, key)[row], positions.size());
      value.steps[found->second] += static_cast<double>(Ints(table, "total_ns")[row]) /
                                    static_cast<double>(std::max<int64_t>(run.ranks, 1));
    }
  }
}

void SetValues(RunValues& run) {
  for (auto& [key, metric] : run.metrics) {
    if (key.first != kBudgetMetric && !metric.steps.empty()) {
      metric.value = key.first == kCallsMetric ? MedianOf(metric.steps) : UsualOf(metric.steps);
      metric.samples = static_cast<int64_t>(metric.steps.size());
      metric.least = *std::min_element(metric.steps.begin(), metric.steps.end());
      metric.most = *std::max_element(metric.steps.begin(), metric.steps.end());
    }
  }
}

namespace {

const Table* FindIn(const Document& document, std::string_view name) {
  const auto found = std::find_if(document.tables.begin(), document.tables.end(),
                                  [&](const Table& table) { return table.name == name; });
  return found == document.tables.end() ? nullptr : &*found;
}

Result<AnswerData> Ask(std::initializer_list<std::string_view> verbs, RunQuestions& run,
                       bool by_step) {
  CheckQuestion question;
  question.verbs.reserve(verbs.size());
  for (const std::string_view verb : verbs) {
    question.verbs.push_back(FindAnalysis(verb));
  }
  if (by_step) {
    question.by = {"step"};
  }
  return run.Ask(question);
}

int64_t SumOf(const Table& table, std::string_view column) {
  const IntValues& cells = Ints(table, column);
  return std::accumulate(cells.begin(), cells.end(), int64_t{0});
}

// What was recorded, whatever is selected.
Result<void> AddInfo(RunQuestions& asked, MeasuredRun& run) {
  BS_ASSIGN(AnswerData answer, asked.Ask({{FindAnalysis("info")}, {}, true}));
  const Table& traces = *FindIn(answer.document, "traces");
  run.values.ranks = static_cast<int64_t>(traces.rows());
  run.values.devices = Texts(traces, "devices")[0];
  const IntValues& sizes = Ints(traces, "world_size");
  run.values.world_size = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  run.device_events = SumOf(traces, "device_events");
  run.files = std::move(answer.files);
  run.diagnostics = std::move(answer.document.diagnostics);
  return {};
}

// Work of a step, as far as shapes were recorded.
void AddWork(const Document& document, size_t steps, RunValues& run) {
  const Table* const utilisation = FindIn(document, "utilisation");
  if (utilisation != nullptr && utilisation->rows() > 0 && steps > 0) {
    const double flops = static_cast<double>(SumOf(*utilisation, "model_flops"));
    if (flops > 0) {
      run.step_flops = flops / static_cast<double>(steps);
    }
  }
}

// Rows of work that belongs to no step are no step, however many there are.
size_t DistinctSteps(const Table& steps) {
  std::set<int64_t> numbers;
  for (size_t row = 0; row < steps.rows(); ++row) {
    if (!steps.Find("step")->IsMissing(row)) {
      numbers.insert(Ints(steps, "step")[row]);
    }
  }
  return numbers.size();
}

void SetRangeOfSteps(const RunSteps& steps, MeasuredRun& run) {
  run.has_steps = !steps.compared.empty();
  run.first_step = run.has_steps ? *steps.compared.begin() : 0;
  run.last_step = run.has_steps ? *steps.compared.rbegin() : 0;
}

// The steps alone, of a run that is not compared: they show whether two runs are one.
Result<void> AddRangeOfSteps(RunQuestions& asked, MeasuredRun& run) {
  const Result<AnswerData> answer = Ask({"steps"}, asked, false);
  if (!answer.ok()) {
    return answer.error().code == ErrorCode::kMissingData ? Result<void>() : answer.error();
  }
  if (const Table* const steps = FindIn(answer->document, "steps")) {
    SetRangeOfSteps(StepsToCompare(*steps), run);
  }
  return {};
}

Result<void> AddMetrics(RunQuestions& asked, const Table& steps, MeasuredRun& run) {
  const RunSteps compared = StepsToCompare(steps);
  AddStepTimes(steps, compared, run.values);
  AddCalls(steps, compared, run.values);
  SetRangeOfSteps(compared, run);
  const Result<AnswerData> work = Ask({"breakdown", "kernels"}, asked, true);
  if (!work.ok() && work.error().code != ErrorCode::kMissingData) {
    return work.error();
  }
  if (work.ok()) {
    if (const Table* const table = FindIn(work->document, "breakdown")) {
      AddDeviceParts(*table, compared, run.values);
    }
    if (const Table* const table = FindIn(work->document, "kernel_classes")) {
      AddWorkTimes(*table, kClassMetric, "class", compared, run.values);
    }
    if (const Table* const table = FindIn(work->document, "kernels")) {
      AddWorkTimes(*table, kKernelMetric, "name", compared, run.values);
    }
  }
  SetValues(run.values);
  return {};
}

Result<void> AddComparison(RunQuestions& asked, bool needs_steps, MeasuredRun& run) {
  const Result<AnswerData> answer = Ask({"steps"}, asked, false);
  const Table* const steps = answer.ok() ? FindIn(answer->document, "steps") : nullptr;
  if (steps == nullptr) {
    const bool may_lack =
        !needs_steps && !answer.ok() && answer.error().code == ErrorCode::kMissingData;
    return may_lack ? Result<void>() : answer.error();
  }
  BS_TRY(AddMetrics(asked, *steps, run));
  const Result<AnswerData> work = Ask({"roofline"}, asked, false);
  if (work.ok()) {
    AddWork(work->document, DistinctSteps(*steps), run.values);
  } else if (work.error().code != ErrorCode::kMissingData) {
    return work.error();
  }
  return {};
}

// Windows that a profiler records without a pause still lie this far apart.
constexpr int64_t kLongestPause = 1'000'000'000;

bool AreAdjacent(const MeasuredRun& a, const MeasuredRun& b) {
  return a.window.begin_ns.has_value() && b.window.begin_ns.has_value() &&
         *a.window.begin_ns <= AddSaturating(*b.window.end_ns, kLongestPause) &&
         *b.window.begin_ns <= AddSaturating(*a.window.end_ns, kLongestPause);
}

// Whether the steps of one lie before those of the other, and do so in time, if that is known.
bool DoStepsFollow(const MeasuredRun& a, const MeasuredRun& b) {
  if (!a.has_steps || !b.has_steps) {
    return false;
  }
  const MeasuredRun& first = a.first_step < b.first_step ? a : b;
  const MeasuredRun& second = &first == &a ? b : a;
  const bool knows_time = first.window.begin_ns.has_value() && second.window.begin_ns.has_value();
  return first.last_step < second.first_step &&
         (!knows_time || *first.window.begin_ns < *second.window.begin_ns);
}

bool AreOfOneProcess(const MeasuredRun& a, const MeasuredRun& b) {
  return a.window.process.has_value() && a.window.process == b.window.process &&
         a.values.ranks == 1 && b.values.ranks == 1 && a.values.devices == b.values.devices &&
         (AreAdjacent(a, b) || DoStepsFollow(a, b));
}

// By time or steps, then by name: what the order of the words cannot change.
bool IsEarlier(const MeasuredRun& a, const MeasuredRun& b) {
  const auto key = [](const MeasuredRun& run) {
    return std::tuple(run.window.begin_ns.value_or(0), run.first_step, run.values.name);
  };
  return key(a) < key(b);
}

void JoinSteps(MeasuredRun& into, const MeasuredRun& from) {
  const auto steps_before = static_cast<size_t>(into.values.steps);
  const auto steps_more = static_cast<size_t>(from.values.steps);
  for (const auto& [key, metric] : from.values.metrics) {
    if (key.first != kBudgetMetric) {
      MetricValue& joined = into.values.metrics[key];
      joined.steps.resize(steps_before);
      joined.steps.insert(joined.steps.end(), metric.steps.begin(), metric.steps.end());
    }
  }
  for (auto& [key, metric] : into.values.metrics) {
    if (key.first != kBudgetMetric) {
      metric.steps.resize(steps_before + steps_more);
    }
  }
  into.values.steps += from.values.steps;
}

void Join(MeasuredRun& into, MeasuredRun& from) {
  into.values.name += ", " + from.values.name;
  into.values.inputs.insert(into.values.inputs.end(), from.values.inputs.begin(),
                            from.values.inputs.end());
  into.values.windows += from.values.windows;
  JoinSteps(into, from);
  into.device_events += from.device_events;
  std::move(from.files.begin(), from.files.end(), std::back_inserter(into.files));
  std::move(from.diagnostics.begin(), from.diagnostics.end(), std::back_inserter(into.diagnostics));
}

// The value of a budget over the windows of a process: the extreme of extremes, and else the
// median.
double ReducedOverWindows(RowReduce reduce, std::vector<double> values) {
  return reduce == RowReduce::kMax   ? *std::max_element(values.begin(), values.end())
         : reduce == RowReduce::kMin ? *std::min_element(values.begin(), values.end())
                                     : MedianOf(std::move(values));
}

// The values of a budget in all windows, as one.
MetricValue JoinedBudget(const Budget& budget, const std::vector<MetricValue>& windows) {
  MetricValue joined = windows.front();
  std::vector<double> values;
  for (const MetricValue& window : windows) {
    values.push_back(window.value);
    joined.samples += &window == &windows.front() ? 0 : window.samples;
    const bool has_noise = joined.least.has_value() && window.least.has_value();
    joined.least = has_noise ? std::optional(std::min(*joined.least, *window.least)) : std::nullopt;
    joined.most = has_noise ? std::optional(std::max(*joined.most, *window.most)) : std::nullopt;
  }
  joined.value =
      ReducedOverWindows(budget.sql.empty() ? budget.reduce : RowReduce::kP50, std::move(values));
  return joined;
}

// Windows of one process, in the order of time.
MeasuredRun JoinAll(std::vector<MeasuredRun> windows, const BudgetFile& file) {
  std::sort(windows.begin(), windows.end(), IsEarlier);
  std::map<std::string, std::vector<MetricValue>> budgets;  // by name
  for (const MeasuredRun& window : windows) {
    for (const auto& [key, metric] : window.values.metrics) {
      if (key.first == kBudgetMetric) {
        budgets[key.second].push_back(metric);
      }
    }
  }
  MeasuredRun joined = std::move(windows.front());
  for (size_t i = 1; i < windows.size(); ++i) {
    Join(joined, windows[i]);
  }
  for (const Budget& budget : file.budgets) {
    const auto found = budgets.find(budget.name);
    if (found != budgets.end()) {
      joined.values.metrics[{std::string(kBudgetMetric), budget.name}] =
          JoinedBudget(budget, found->second);
    }
  }
  SetValues(joined.values);
  return joined;
}

}  // namespace

Result<MeasuredRun> MeasureRun(const std::string& name, RunQuestions& asked,
                               const MeasureOptions& measure) {
  MeasuredRun run;
  run.values.name = name;
  run.values.inputs = {name};
  BS_TRY(AddInfo(asked, run));
  // Only recordings of one rank are joined.
  const bool may_be_window = measure.is_one_of_several && run.values.ranks == 1;
  if (may_be_window) {
    BS_ASSIGN(run.window, asked.Window());
  }
  if (may_be_window && !measure.for_comparison) {
    BS_TRY(AddRangeOfSteps(asked, run));
  }
  if (measure.for_comparison) {
    BS_TRY(AddComparison(asked, measure.needs_steps, run));
  }
  BS_TRY(MeasureBudgets(*measure.file, measure.verbs, asked, run.values));
  return run;
}

std::vector<MeasuredRun> JoinWindows(std::vector<MeasuredRun> runs, const BudgetFile& file) {
  // Groups of numbers of runs; a run that belongs to several makes them one.
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < runs.size(); ++i) {
    std::vector<size_t> own = {i};
    for (std::vector<size_t>& group : groups) {
      if (std::any_of(group.begin(), group.end(),
                      [&](size_t other) { return AreOfOneProcess(runs[other], runs[i]); })) {
        own.insert(own.end(), group.begin(), group.end());
        group.clear();
      }
    }
    std::erase_if(groups, [](const std::vector<size_t>& group) { return group.empty(); });
    std::sort(own.begin(), own.end());
    groups.push_back(std::move(own));
  }
  std::sort(groups.begin(), groups.end());
  std::vector<MeasuredRun> joined;
  for (const std::vector<size_t>& group : groups) {
    std::vector<MeasuredRun> windows;
    windows.reserve(group.size());
    for (const size_t number : group) {
      windows.push_back(std::move(runs[number]));
    }
    joined.push_back(windows.size() == 1 ? std::move(windows.front())
                                         : JoinAll(std::move(windows), file));
  }
  return joined;
}

}  // namespace borescope::internal
