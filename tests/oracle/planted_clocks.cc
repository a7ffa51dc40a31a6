#include "tests/oracle/planted_clocks.h"

#include <algorithm>
#include <cmath>

#include "tests/oracle/random.h"

namespace borescope::internal::testkit {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1000 * kUs;
constexpr double kMostCrystalDrift = 50e-6;

PlantedClock MakeClock(Random& random, int64_t span_ns, const ClockPlan& plan, int64_t grain_ns) {
  PlantedClock clock;
  clock.offset_ns = random.Between(-50 * kMs, 50 * kMs);
  clock.grain_ns = grain_ns;
  if (random.Chance(0.5)) {
    clock.drift = kMostCrystalDrift * static_cast<double>(random.Between(-1000, 1000)) / 1000;
  }
  if (random.Chance(plan.step_chance)) {
    clock.step_at_ns = random.Between(span_ns / 5, span_ns * 4 / 5);
    clock.step_ns = random.Between(50 * kUs, 5 * kMs) * (random.Chance(0.5) ? 1 : -1);
  }
  clock.exit_bias_ns = random.Between(0, plan.most_bias_ns);
  return clock;
}

// Ranks that meet: all of them, or rows and columns of a grid.
std::vector<std::vector<uint32_t>> MakeGroups(Random& random, uint32_t ranks) {
  std::vector<std::vector<uint32_t>> groups;
  if (ranks % 2 != 0 || ranks < 4 || random.Chance(0.6)) {
    groups.emplace_back();
    for (uint32_t rank = 0; rank < ranks; ++rank) groups.back().push_back(rank);
    return groups;
  }
  groups.resize(2 + ranks / 2);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    groups[rank % 2].push_back(rank);
    groups[2 + rank / 2].push_back(rank);
  }
  return groups;
}

int64_t CutTo(int64_t ns, int64_t grain_ns) { return ns - ((ns % grain_ns) + grain_ns) % grain_ns; }

class Planting {
 public:
  Planting(uint64_t seed, const ClockPlan& plan) : random_(seed) {
    const auto ranks = static_cast<uint32_t>(random_.Between(2, 12));
    span_ns_ = random_.Chance(0.5) ? random_.Between(2'000 * kMs, 20'000 * kMs)
                                   : random_.Between(20 * kMs, 900 * kMs);
    const int64_t grain_ns = random_.Chance(0.5) ? 1 : kUs;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      planted_.clocks.push_back(MakeClock(random_, span_ns_, plan, grain_ns));
    }
    planted_.meetings.ranks = ranks;
    planted_.options.base_ns.assign(ranks, 0);
    planted_.options.grain_ns.assign(ranks, grain_ns);
  }

  PlantedClocks Run() {
    const auto groups = MakeGroups(random_, static_cast<uint32_t>(planted_.clocks.size()));
    const int64_t count = random_.Between(40, 400);
    for (int64_t i = 0; i < count; ++i) {
      AddMeeting(groups[static_cast<size_t>(i) % groups.size()],
                 static_cast<uint32_t>(static_cast<size_t>(i) % groups.size()),
                 span_ns_ * (i + 1) / (count + 1));
    }
    CountFromFirstVisit();
    return std::move(planted_);
  }

 private:
  // Ranks come one after the other, the last starts the transfer, and all leave nearly together.
  void AddMeeting(const std::vector<uint32_t>& group, uint32_t number, int64_t begin_ns) {
    const int64_t late_ns = random_.Chance(0.3) ? span_ns_ / 2000 : 20 * kUs;
    std::vector<int64_t> enters;
    enters.reserve(group.size());
    for (size_t i = 0; i < group.size(); ++i) {
      enters.push_back(begin_ns + random_.Between(0, late_ns));
    }
    const int64_t transfer_ns = random_.Between(12 * kUs, 400 * kUs);
    const int64_t left_ns = *std::max_element(enters.begin(), enters.end()) + transfer_ns;
    for (size_t i = 0; i < group.size(); ++i) {
      const PlantedClock& clock = planted_.clocks[group[i]];
      const int64_t tail_ns = random_.Chance(0.03) ? random_.Between(0, 500 * kUs) : 0;
      const int64_t leave_ns = left_ns + clock.exit_bias_ns + random_.Between(0, 3 * kUs) + tail_ns;
      const int64_t enter = CutTo(clock.At(enters[i]), clock.grain_ns);
      const int64_t length = CutTo(clock.At(leave_ns) - clock.At(enters[i]), clock.grain_ns);
      // A clock that is set back within a meeting would give it a negative length.
      planted_.meetings.visits.push_back({group[i], enter, enter + std::max<int64_t>(0, length)});
    }
    planted_.meetings.Close(true, number);
    planted_.left_ns.push_back(left_ns);
  }

  void CountFromFirstVisit() {
    std::vector<char> was_seen(planted_.clocks.size(), 0);
    for (Visit& visit : planted_.meetings.visits) {
      int64_t& base_ns = planted_.options.base_ns[visit.rank];
      if (was_seen[visit.rank] == 0) base_ns = visit.enter_ns;
      was_seen[visit.rank] = 1;
      visit.enter_ns -= base_ns;
      visit.leave_ns -= base_ns;
    }
  }

  Random random_;
  int64_t span_ns_ = 0;
  PlantedClocks planted_;
};

}  // namespace

int64_t PlantedClock::At(int64_t true_ns) const {
  const int64_t stepped_ns = step_ns != 0 && true_ns >= step_at_ns ? step_ns : 0;
  return true_ns + offset_ns + stepped_ns + std::llround(drift * static_cast<double>(true_ns));
}

int64_t PlantedClocks::TrueOffset(uint32_t rank, uint32_t other, size_t meeting) const {
  return clocks[other].At(left_ns[meeting]) - clocks[rank].At(left_ns[meeting]);
}

PlantedClocks PlantClocks(uint64_t seed, const ClockPlan& plan) {
  return Planting(seed, plan).Run();
}

}  // namespace borescope::internal::testkit
