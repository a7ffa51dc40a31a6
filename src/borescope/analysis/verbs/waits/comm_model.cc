#include "borescope/analysis/verbs/waits/comm_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/collectives.h"

namespace borescope::internal {

namespace {

constexpr double kQuantile = 0.1;
constexpr size_t kLeastCalls = 12;
constexpr size_t kLeastSizes = 3;
constexpr int64_t kLeastSpan = 4;
constexpr int kRounds = 100;
constexpr double kGolden = 0.6180339887498949;

double WeightOf(const SizedTime& time) { return 1 / static_cast<double>(time.ns); }

// The best alpha for a rate: the weighted quantile of what is left, at least 0.
double BestAlpha(std::span<const SizedTime> times, double ns_per_byte) {
  std::vector<std::pair<double, double>> rests;  // with their weights
  double all = 0;
  for (const SizedTime& time : times) {
    rests.emplace_back(static_cast<double>(time.ns) - ns_per_byte * static_cast<double>(time.bytes),
                       WeightOf(time));
    all += rests.back().second;
  }
  std::sort(rests.begin(), rests.end());
  double below = 0;
  for (const auto& [rest, weight] : rests) {
    below += weight;
    if (below >= kQuantile * all) return std::max(0.0, rest);
  }
  return 0;
}

double LossOf(std::span<const SizedTime> times, double ns_per_byte) {
  return TransferLoss(times, BestAlpha(times, ns_per_byte), ns_per_byte);
}

// The loss is convex in the rate, as it is in both values.
double BestRate(std::span<const SizedTime> times) {
  double low = 0;
  double high = 0;
  for (const SizedTime& time : times) {
    high = std::max(high, static_cast<double>(time.ns) / static_cast<double>(time.bytes));
  }
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double left_loss = LossOf(times, left);
  double right_loss = LossOf(times, right);
  for (int i = 0; i < kRounds; ++i) {
    if (left_loss <= right_loss) {
      high = right;
      right = std::exchange(left, right - kGolden * (right - low));
      right_loss = std::exchange(left_loss, LossOf(times, left));
    } else {
      low = left;
      left = std::exchange(right, left + kGolden * (high - left));
      left_loss = std::exchange(right_loss, LossOf(times, right));
    }
  }
  return (low + high) / 2;
}

std::optional<double> SpreadOf(std::span<const SizedTime> times, const CommFit& fit) {
  std::vector<double> distances;
  for (const SizedTime& time : times) {
    const std::optional<double> expected = fit.ExpectedNs(time.bytes);
    if (!expected.has_value()) continue;
    distances.push_back(std::abs(static_cast<double>(time.ns) / *expected - 1));
  }
  if (distances.empty()) return std::nullopt;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return 1.4826 * *middle;
}

// By size the same quantile as of the line. REQUIRES: sorted by size and time.
std::map<int64_t, int64_t> TimesOfSizes(std::span<const SizedTime> sorted) {
  std::map<int64_t, int64_t> ns_of_size;
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].bytes == sorted[begin].bytes) ++end;
    const auto below = static_cast<size_t>(kQuantile * static_cast<double>(end - begin - 1));
    if (end - begin > 1) ns_of_size.emplace(sorted[begin].bytes, sorted[begin + below].ns);
    begin = end;
  }
  return ns_of_size;
}

bool AreEnough(std::span<const SizedTime> sorted, const CommFit& fit) {
  return sorted.size() >= kLeastCalls && fit.sizes >= static_cast<int64_t>(kLeastSizes) &&
         sorted.back().bytes / kLeastSpan >= sorted.front().bytes;
}

}  // namespace

double TransferLoss(std::span<const SizedTime> times, double alpha_ns, double ns_per_byte) {
  double loss = 0;
  for (const SizedTime& time : times) {
    const double above =
        static_cast<double>(time.ns) - alpha_ns - ns_per_byte * static_cast<double>(time.bytes);
    loss += WeightOf(time) * (above > 0 ? kQuantile * above : (kQuantile - 1) * above);
  }
  return loss;
}

std::optional<double> CommFit::ExpectedNs(int64_t bytes) const {
  if (alpha_ns.has_value()) return *alpha_ns + static_cast<double>(bytes) * ns_per_byte;
  const auto found = ns_of_size.find(bytes);
  if (found == ns_of_size.end()) return std::nullopt;
  return static_cast<double>(found->second);
}

CommFit FitTransfer(std::vector<SizedTime> times) {
  CommFit fit;
  if (times.empty()) return fit;
  std::sort(times.begin(), times.end(), [](const SizedTime& a, const SizedTime& b) {
    return std::tie(a.bytes, a.ns) < std::tie(b.bytes, b.ns);
  });
  fit.calls = static_cast<int64_t>(times.size());
  fit.sizes = 1;
  for (size_t i = 1; i < times.size(); ++i) fit.sizes += times[i].bytes != times[i - 1].bytes;
  if (AreEnough(times, fit)) {
    fit.ns_per_byte = BestRate(times);
    fit.alpha_ns = BestAlpha(times, fit.ns_per_byte);
  }
  if (!fit.is_known()) {
    fit.alpha_ns.reset();
    const auto rate_of = [](const SizedTime& time) {
      return static_cast<double>(time.ns) / static_cast<double>(time.bytes);
    };
    fit.ns_per_byte = rate_of(*std::min_element(
        times.begin(), times.end(),
        [&](const SizedTime& a, const SizedTime& b) { return rate_of(a) < rate_of(b); }));
    fit.ns_of_size = TimesOfSizes(times);
  }
  fit.spread = SpreadOf(times, fit);
  return fit;
}

namespace {

constexpr int64_t kLeastExcessNs = 20'000;

// All ranks were inside; 0 where clocks contradict each other.
int64_t TransferOf(const WaitCollective& collective) {
  if (collective.is_contradicted) return 0;
  return std::max<int64_t>(0, collective.common.first_out_ns - collective.common.all_in_ns);
}

// The transfers that one model is for.
struct Transfers {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::vector<SizedTime> times;
};

using ModelKey = std::tuple<std::string, std::string, int64_t, CommAlgorithm>;

ModelKey KeyOfModel(const WaitCollective& collective, const CollectiveKeys& keys) {
  return {keys.Text(collective.key_row, "collective"), keys.Text(collective.key_row, "group"),
          keys.GroupSize(collective.key), AlgorithmOf(keys.Text(collective.key_row, "kernel"))};
}

CommModels::Model ModelOf(const ModelKey& key, CollectiveKind kind, std::vector<SizedTime> times) {
  CommModels::Model model;
  std::tie(model.collective, model.group, model.group_size, model.how) = key;
  model.bus_factor = BusFactor(kind, model.group_size);
  for (const SizedTime& time : times) {
    model.best_bytes_per_ns = std::max(
        model.best_bytes_per_ns, static_cast<double>(time.bytes) / static_cast<double>(time.ns));
  }
  model.fit = FitTransfer(std::move(times));
  return model;
}

struct CommModelRow {
  std::string_view collective = {};
  std::optional<std::string_view> group = {};
  std::optional<int64_t> group_size = {};
  std::optional<std::string_view> algorithm = {};
  std::optional<std::string_view> protocol = {};
  int64_t count = 0;
  int64_t sizes = 0;
  std::optional<double> alpha_ns = {};
  double algo_gbps = 0;
  std::optional<double> beta_gbps = {};
  std::optional<double> half_bytes = {};
  std::optional<double> fit_spread = {};

  static constexpr TableNames kTable{"comm_model", "What transfers of this job take"};
  static constexpr ColumnOf<CommModelRow> kColumns[] = {
      {"collective", &CommModelRow::collective, Role::kKey, "What was asked for."},
      {"group", &CommModelRow::group, Role::kKey,
       "Name of the process group; missing when not recorded."},
      {"group_size", &CommModelRow::group_size, Unit::kCount, Role::kKey,
       "Number of ranks in the group."},
      {"algorithm", &CommModelRow::algorithm, Role::kKey,
       "RING, TREE, NVLS or COLLNET, by the kernel's name."},
      {"protocol", &CommModelRow::protocol, Role::kKey,
       "LL, LL128 or SIMPLE, by the kernel's name."},
      {"count", &CommModelRow::count, Unit::kCount, Role::kDerived, "Collectives of known size."},
      {"sizes", &CommModelRow::sizes, Unit::kCount, Role::kDerived, "How many sizes they have."},
      {"alpha_ns", &CommModelRow::alpha_ns, Unit::kNanoseconds, Role::kDerived,
       "Latency: what a transfer takes besides its bytes; missing with fewer than 12 "
       "collectives, or than 3 sizes that span a factor of 4."},
      {"algo_gbps", &CommModelRow::algo_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Rate of large transfers; without alpha_ns the best that one reached."},
      {"beta_gbps", &CommModelRow::beta_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "The same as bus bandwidth; missing if the group size is not known."},
      {"half_bytes", &CommModelRow::half_bytes, Unit::kBytes, Role::kDerived,
       "Size of which latency takes half of the time."},
      {"fit_spread", &CommModelRow::fit_spread, Unit::kShare, Role::kDerived,
       "How far collectives lie from the expected time, as a share of it; without alpha_ns "
       "those of which another one has the same size."}};
};

struct CommSlowRow {
  std::string_view collective = {};
  std::optional<std::string_view> group = {};
  std::optional<int64_t> step = {};
  int64_t position = 0;
  std::optional<std::string_view> called_from = {};
  int64_t bytes = 0;
  int64_t transfer_ns = 0;
  int64_t expected_ns = 0;
  int64_t excess_ns = 0;

  static constexpr TableNames kTable{"comm_slow",
                                     "Transfers that took more than twice the expected time", 10};
  static constexpr ColumnOf<CommSlowRow> kColumns[] = {
      {"collective", &CommSlowRow::collective, Role::kKey, "What was asked for."},
      {"group", &CommSlowRow::group, Role::kKey,
       "Name of the process group; missing when not recorded."},
      {"step", &CommSlowRow::step, Role::kKey, kStepOrNoneDoc},
      {"position", &CommSlowRow::position, Role::kKey, "As in waits."},
      {"called_from", &CommSlowRow::called_from, Role::kKey, "As in waits."},
      {"bytes", &CommSlowRow::bytes, Unit::kBytes, Role::kDerived, "Size of the message."},
      {"transfer_ns", &CommSlowRow::transfer_ns, Unit::kNanoseconds, Role::kDerived,
       "From the moment at which all were inside to the first that left."},
      {"expected_ns", &CommSlowRow::expected_ns, Unit::kNanoseconds, Role::kDerived,
       "By the line of comm_model that it belongs to; without alpha_ns what others of its size "
       "take."},
      {"excess_ns", &CommSlowRow::excess_ns, Unit::kNanoseconds, Role::kSum,
       "What it took longer."}};
};

}  // namespace

CommAlgorithm AlgorithmOf(std::string_view kernel) {
  constexpr std::string_view kAlgorithms[] = {"RING", "TREE", "NVLS", "COLLNET"};
  constexpr std::string_view kProtocols[] = {"SIMPLE", "LL128", "LL"};
  CommAlgorithm found;
  const auto has = [&](std::string_view word) {
    return kernel.find("_" + std::string(word)) != std::string_view::npos;
  };
  for (const std::string_view word : kAlgorithms) {
    if (found.algorithm.empty() && has(word)) found.algorithm = word;
  }
  for (const std::string_view word : kProtocols) {
    if (found.protocol.empty() && has(word)) found.protocol = word;
  }
  return found;
}

int64_t CommModels::ExpectedNs(const WaitRun& run, size_t collective) const {
  if (model_of[collective] == kNone) return kMissing;
  const CommFit& fit = models[model_of[collective]].fit;
  const std::optional<double> ns = fit.ExpectedNs(run.collectives[collective].bytes);
  return ns.has_value() ? std::llround(std::min(*ns, 9e18)) : kMissing;
}

CommModels FitCommModels(const WaitRun& run, const CollectiveKeys& keys) {
  std::map<ModelKey, Transfers> transfers;
  for (const WaitCollective& collective : run.collectives) {
    const int64_t ns = TransferOf(collective);
    if (collective.bytes == kMissing || collective.bytes <= 0 || ns == 0) continue;
    Transfers& alike = transfers[KeyOfModel(collective, keys)];
    alike.kind = collective.kind;
    alike.times.push_back({collective.bytes, ns});
  }
  CommModels models;
  std::map<ModelKey, uint32_t> numbers;
  for (auto& [key, alike] : transfers) {
    numbers.emplace(key, static_cast<uint32_t>(models.models.size()));
    models.models.push_back(ModelOf(key, alike.kind, std::move(alike.times)));
  }
  for (const WaitCollective& collective : run.collectives) {
    const bool is_sized = collective.bytes != kMissing && collective.bytes > 0;
    const auto found = is_sized ? numbers.find(KeyOfModel(collective, keys)) : numbers.end();
    models.model_of.push_back(found == numbers.end() ? CommModels::kNone : found->second);
  }
  return models;
}

Table CommModelTable(const CommModels& models) {
  std::vector<CommModelRow> rows;
  for (const CommModels::Model& model : models.models) {
    const double rate = 1 / model.fit.ns_per_byte;
    CommModelRow& row =
        rows.emplace_back(CommModelRow{.collective = model.collective,
                                       .group = Recorded(std::string_view(model.group)),
                                       .group_size = Recorded(model.group_size),
                                       .algorithm = Recorded(std::string_view(model.how.algorithm)),
                                       .protocol = Recorded(std::string_view(model.how.protocol)),
                                       .count = model.fit.calls,
                                       .sizes = model.fit.sizes,
                                       .alpha_ns = model.fit.alpha_ns,
                                       .algo_gbps = rate,
                                       .fit_spread = model.fit.spread});
    if (model.bus_factor) row.beta_gbps = rate * *model.bus_factor;
    if (model.fit.alpha_ns) row.half_bytes = *model.fit.alpha_ns * rate;
  }
  return MakeTable(rows);
}

Table CommSlowTable(const WaitRun& run, const CollectiveKeys& keys, const CommModels& models) {
  std::vector<CommSlowRow> rows;
  for (size_t i = 0; i < run.collectives.size(); ++i) {
    const WaitCollective& collective = run.collectives[i];
    if (!collective.is_selected) continue;
    const int64_t expected_ns = models.ExpectedNs(run, i);
    const int64_t ns = TransferOf(collective);
    if (expected_ns == kMissing || ns / 2 <= expected_ns || ns - expected_ns <= kLeastExcessNs) {
      continue;
    }
    const std::string_view site = keys.Text(collective.key_row, "site");
    rows.push_back({.collective = keys.Text(collective.key_row, "collective"),
                    .group = Recorded(std::string_view(keys.Text(collective.key_row, "group"))),
                    .step = Recorded(collective.step),
                    .position = collective.position,
                    .called_from = Recorded(site),
                    .bytes = collective.bytes,
                    .transfer_ns = ns,
                    .expected_ns = expected_ns,
                    .excess_ns = ns - expected_ns});
  }
  return Sorted(MakeTable(rows), "excess_ns");
}

}  // namespace borescope::internal
