#include "tests/support/simulation/machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace borescope::simulation {

Machine::Machine(const SimulationConfig& config, SimulatedRun* run)
    : config_(config), run_(*run), costs_(config, run->program) {
  const Program& program = run_.program;
  states_.resize(static_cast<size_t>(program.ranks));
  run_.ranks.resize(static_cast<size_t>(program.ranks));
  for (RankState& state : states_) {
    state.threads.resize(program.threads.size());
    state.streams.resize(program.streams.size());
    state.events.resize(static_cast<size_t>(program.events));
  }
  for (const Partition& partition : program.partitions) {
    std::vector<int32_t>& groups = group_of_.emplace_back(static_cast<size_t>(program.ranks), -1);
    for (size_t group = 0; group < partition.size(); ++group) {
      for (const int32_t rank : partition[group]) {
        groups[static_cast<size_t>(rank)] = static_cast<int32_t>(group);
      }
    }
  }
}

void Machine::At(int64_t at_ns, Moment::Kind kind, int32_t rank, int32_t index) {
  moments_.push({kind, at_ns, order_++, rank, index});
}

void Machine::Run() {
  for (int32_t rank = 0; rank < run_.program.ranks; ++rank) {
    const int64_t start_ns = costs_.StartNs(rank);
    for (size_t thread = 0; thread < run_.program.threads.size(); ++thread) {
      ThreadOf(rank, static_cast<int32_t>(thread)).now_ns = start_ns;
      At(start_ns, Moment::Kind::kResume, rank, static_cast<int32_t>(thread));
    }
  }
  while (!moments_.empty()) {
    const Moment moment = moments_.top();
    moments_.pop();
    now_ns_ = moment.at_ns;
    if (moment.kind == Moment::Kind::kResume) Resume(moment.rank, moment.index);
    if (moment.kind == Moment::Kind::kStart) Start(moment.rank, moment.index);
    if (moment.kind == Moment::Kind::kEnd) End(moment.rank, moment.index);
  }
  for (size_t rank = 0; rank < states_.size(); ++rank) {
    for (const ThreadState& thread : states_[rank].threads) {
      if (thread.is_done) continue;
      run_.error = fmt::format("rank {} waits forever at instruction {}", rank, thread.next);
    }
  }
  run_.planted = costs_.Planted();
  for (size_t rank = 0; rank < states_.size(); ++rank) {
    run_.ranks[rank].clock = costs_.ClockOf(static_cast<int32_t>(rank), now_ns_ / 2);
  }
}

}  // namespace borescope::simulation
