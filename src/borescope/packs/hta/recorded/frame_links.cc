#include "borescope/packs/hta/recorded/frame_links.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "borescope/analysis/core/row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kStep = "ProfilerStep";

// The number of "ProfilerStep # 12"; nothing for other names.
std::optional<int64_t> StepNumber(std::string_view name) {
  if (!name.starts_with(kStep)) {
    return std::nullopt;
  }
  name.remove_prefix(kStep.size());
  const auto skip_space = [&] {
    name.remove_prefix(std::min(name.find_first_not_of(" \t\n\r\f\v"), name.size()));
  };
  skip_space();
  if (!name.starts_with('#')) {
    return std::nullopt;
  }
  name.remove_prefix(1);
  skip_space();
  int64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  return parsed.ec == std::errc() && number >= 0 ? std::optional(number) : std::nullopt;
}

// Which step a moment is in: of overlapping ones the one that is last in the file.
class StepsOverTime {
 public:
  explicit StepsOverTime(const Table& events) { Collect(events); }

  // -1 for none.
  int64_t At(double ts_us) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), ts_us);
    return after == begins_.begin() ? -1
                                    : numbers_[static_cast<size_t>(after - begins_.begin()) - 1];
  }

 private:
  struct Edge {
    double ts_us;
    size_t step;  // in the order of the file
    bool is_begin;
  };

  void Collect(const Table& events) {
    const StringValues& names = Texts(events, "name");
    const FloatValues& begins = Floats(events, "ts_us");
    const FloatValues& durations = Floats(events, "dur_us");
    std::vector<std::optional<int64_t>> of_text;
    for (const std::string& text : names.texts()) {
      of_text.push_back(StepNumber(text));
    }
    std::vector<Edge> edges;
    std::vector<int64_t> steps;
    for (size_t row = 0; row < names.size(); ++row) {
      if (const auto& number = of_text[names.numbers()[row]]; number.has_value()) {
        edges.push_back({begins[row], steps.size(), true});
        edges.push_back({begins[row] + durations[row], steps.size(), false});
        steps.push_back(*number);
      }
    }
    Sweep(std::move(edges), steps);
  }

  void Sweep(std::vector<Edge> edges, const std::vector<int64_t>& steps) {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.ts_us < b.ts_us; });
    std::set<size_t> begun;
    std::set<size_t> ended;  // before they began: rounding can leave nothing of a step
    for (size_t i = 0; i < edges.size(); ++i) {
      const Edge& edge = edges[i];
      if (edge.is_begin && ended.erase(edge.step) == 0) {
        begun.insert(edge.step);
      } else if (!edge.is_begin && begun.erase(edge.step) == 0) {
        ended.insert(edge.step);
      }
      if (i + 1 == edges.size() || edges[i + 1].ts_us != edge.ts_us) {
        begins_.push_back(edge.ts_us);
        numbers_.push_back(begun.empty() ? -1 : steps[*begun.rbegin()]);
      }
    }
  }

  std::vector<double> begins_;
  std::vector<int64_t> numbers_;  // from each begin on
};

}  // namespace

bool IsHtaStepName(std::string_view name) {
  return name.starts_with("ProfilerStep#") && name.size() > kStep.size() + 1 &&
         name[kStep.size() + 1] >= '0' && name[kStep.size() + 1] <= '9';
}

std::vector<char> FindDeviceRows(const Table& events) {
  const StringValues& names = Texts(events, "name");
  std::vector<char> is_sync;
  for (const std::string& text : names.texts()) {
    is_sync.push_back(text == "Event Sync" || text == "Context Sync" ? 1 : 0);
  }
  const IntValues& streams = Ints(events, "stream");
  const IntValues& correlations = Ints(events, "correlation");
  const Column& numbers = *events.Find("correlation");
  std::vector<char> device(events.rows(), 0);
  for (size_t row = 0; row < device.size(); ++row) {
    const bool has_number = !numbers.IsMissing(row) && correlations[row] >= 0;
    device[row] = (streams[row] >= 0 && has_number) || is_sync[names.numbers()[row]] != 0 ? 1 : 0;
  }
  return device;
}

void LinkCorrelations(Table& events) {
  const std::vector<char> device = FindDeviceRows(events);
  const IntValues& correlations = Ints(events, "correlation");
  const IntValues& indexes = Ints(events, "index");
  HashMap<int64_t, int64_t> last[2];  // index by correlation, of host and device
  for (size_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (correlations[row] != -1) {
      last[device[row] != 0 ? 1 : 0][correlations[row]] = indexes[row];
    }
  }
  auto& linked = std::get<IntValues>(events.Find("index_correlation")->values);
  for (size_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const auto& partners = last[device[row] != 0 ? 0 : 1];
    const auto found = partners.find(correlations[row]);
    linked[row] = correlations[row] == -1 || found == partners.end()
                      ? std::min<int64_t>(correlations[row], 0)
                      : found->second;
  }
}

NumberKind FillIterations(Table& events) {
  const StepsOverTime steps(events);
  const FloatValues& begins = Floats(events, "ts_us");
  const IntValues& streams = Ints(events, "stream");
  const IntValues& indexes = Ints(events, "index");
  const IntValues& links = Ints(events, "index_correlation");
  const StringValues& categories = Texts(events, "cat");
  Column& column = *events.Find("iteration");
  auto& iterations = std::get<IntValues>(column.values);
  std::vector<char> open(events.rows(), 1);
  for (size_t row = 0; row < streams.size(); ++row) {
    CheckStopAt(row);
    if (streams[row] < 0 || (streams[row] == 0 && categories[row] == "cpu_op")) {
      iterations[row] = steps.At(begins[row]);
      open[row] = 0;
    }
  }
  const std::vector<char> by_time = open;
  for (size_t row = 0; row < streams.size(); ++row) {
    CheckStopAt(row);
    if (streams[row] > 0) {
      const auto partner = std::lower_bound(indexes.begin(), indexes.end(), links[row]);
      const bool is_linked = links[row] > 0 && partner != indexes.end() && *partner == links[row];
      const auto at = static_cast<size_t>(partner - indexes.begin());
      iterations[row] = is_linked ? iterations[at] : -1;
      open[row] = is_linked ? by_time[at] : 0;
    }
  }
  NumberKind kind;
  for (const char is_open : open) {
    kind.See(is_open != 0 ? LooseType::kNull : LooseType::kInt);
  }
  column.missing = kind.Has(LooseType::kNull) ? std::move(open) : std::vector<char>();
  return kind;
}

}  // namespace borescope::internal
