// Streams of the device.
#include <algorithm>

#include "tests/support/simulation/machine.h"

namespace borescope::simulation {

void Machine::Push(int32_t rank, int32_t stream, const Entry& entry) {
  StreamOf(rank, stream).entries.push_back(entry);
  Advance(rank, stream);
}

// Goes on with what is at the front, if nothing runs.
void Machine::Advance(int32_t rank, int32_t stream) {
  StreamState& state = StreamOf(rank, stream);
  while (!state.is_running && !state.entries.empty()) {
    if (state.entries.front().kind == Entry::Kind::kWork) return ScheduleStart(rank, stream);
    if (!PassMarker(rank, stream)) return;
  }
}

// Returns false if the stream has to wait at it.
bool Machine::PassMarker(int32_t rank, int32_t stream) {
  StreamState& state = StreamOf(rank, stream);
  const Entry entry = state.entries.front();
  if (entry.kind == Entry::Kind::kWait) {
    EventState& event = StateOf(rank).events[static_cast<size_t>(entry.event)];
    if (!event.is_done) {
      event.streams.push_back(stream);
      return false;
    }
    state.event_ns = std::max(state.event_ns, event.at_ns + costs_.LagNs(Lag::kEvent, entry.place));
  }
  state.entries.pop_front();
  if (entry.kind == Entry::Kind::kRecord) Happen(rank, entry.event);
  if (entry.kind == Entry::Kind::kNotify) Notify(rank, entry.thread);
  return true;
}

void Machine::Happen(int32_t rank, int32_t event) {
  EventState& state = StateOf(rank).events[static_cast<size_t>(event)];
  state.is_done = true;
  state.at_ns = now_ns_;
  for (const int32_t thread : state.threads) Notify(rank, thread);
  state.threads.clear();
  const std::vector<int32_t> streams = std::move(state.streams);
  state.streams.clear();
  for (const int32_t stream : streams) Advance(rank, stream);
}

void Machine::ScheduleStart(int32_t rank, int32_t stream) {
  StreamState& state = StreamOf(rank, stream);
  const Entry& entry = state.entries.front();
  int64_t start_ns = std::max({entry.ready_ns, state.event_ns, now_ns_});
  if (state.last_end_ns >= 0) {
    start_ns = std::max(start_ns, state.last_end_ns + costs_.LagNs(Lag::kGap, entry.place));
  }
  state.is_running = true;
  state.done = 0;
  At(start_ns, Moment::Kind::kStart, rank, stream);
}

void Machine::Start(int32_t rank, int32_t stream) {
  StreamState& state = StreamOf(rank, stream);
  const Entry& entry = state.entries.front();
  const int32_t row = entry.first + state.done;
  WorkRow& started = run_.ranks[static_cast<size_t>(rank)].works[static_cast<size_t>(row)];
  started.begin_ns = now_ns_;
  const Work& work = run_.program.works[static_cast<size_t>(started.work)];
  if (work.collective >= 0) {
    Enter(rank, stream, row);
  } else {
    At(now_ns_ + costs_.WorkNs(rank, work), Moment::Kind::kEnd, rank, stream);
  }
  if (state.done > 0) return;
  --state.waiting;
  if (state.blocked.empty()) return;
  const int32_t thread = state.blocked.front();
  state.blocked.pop_front();
  Unblock(rank, thread);
}

void Machine::End(int32_t rank, int32_t stream) {
  StreamState& state = StreamOf(rank, stream);
  const Entry entry = state.entries.front();
  const size_t row = static_cast<size_t>(entry.first + state.done);
  run_.ranks[static_cast<size_t>(rank)].works[row].end_ns = now_ns_;
  if (++state.done < entry.count) {
    const int32_t next = run_.ranks[static_cast<size_t>(rank)].works[row + 1].work;
    const Work& work = run_.program.works[static_cast<size_t>(next)];
    const LagPlace place{rank, work.thread, work.step, work.item};
    return At(now_ns_ + costs_.LagNs(Lag::kGraphGap, place), Moment::Kind::kStart, rank, stream);
  }
  state.entries.pop_front();
  state.is_running = false;
  state.last_end_ns = now_ns_;
  Advance(rank, stream);
}

void Machine::Enter(int32_t rank, int32_t stream, int32_t row) {
  const WorkRow& entered = run_.ranks[static_cast<size_t>(rank)].works[static_cast<size_t>(row)];
  const Work& work = run_.program.works[static_cast<size_t>(entered.work)];
  const size_t partition =
      static_cast<size_t>(run_.program.collectives[static_cast<size_t>(work.collective)].partition);
  const int32_t group = group_of_[partition][static_cast<size_t>(rank)];
  const auto& ranks = run_.program.partitions[partition][static_cast<size_t>(group)];
  Meeting& meeting = meetings_[{work.collective, group}];
  if (meeting.row < 0) {
    meeting.row = static_cast<int32_t>(run_.collectives.size());
    run_.collectives.push_back({.collective = work.collective,
                                .group = group,
                                .ranks = ranks,
                                .works = std::vector<int32_t>(ranks.size(), -1)});
  }
  CollectiveRow& collective = run_.collectives[static_cast<size_t>(meeting.row)];
  const auto place = std::ranges::find(ranks, rank) - ranks.begin();
  collective.works[static_cast<size_t>(place)] = row;
  meeting.members.emplace_back(rank, stream);
  collective.all_in_ns = now_ns_;
  meeting.root_entered = meeting.root_entered || place == 0;
  const bool has_root = run_.program.collectives[static_cast<size_t>(work.collective)].has_root;
  const bool are_all_in = ++meeting.entered == static_cast<int32_t>(ranks.size());
  if (has_root ? meeting.root_entered : are_all_in) FinishMeeting(meeting, work);
}

// Those that are in are a transfer away from their end now.
void Machine::FinishMeeting(Meeting& meeting, const Work& work) {
  CollectiveRow& row = run_.collectives[static_cast<size_t>(meeting.row)];
  if (!meeting.has_begun) row.transfer_ns = costs_.TransferNs(work, row.ranks, row.group);
  meeting.has_begun = true;
  for (const auto& [rank, stream] : meeting.members) {
    At(now_ns_ + row.transfer_ns + costs_.TailNs(rank, work), Moment::Kind::kEnd, rank, stream);
  }
  meeting.members.clear();
}

}  // namespace borescope::simulation
