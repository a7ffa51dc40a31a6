#include "borescope/trace/repaired_times.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

namespace {

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kQuarterRounding = 350;

bool IsQuarter(int64_t part_ns) {
  return part_ns == 0 || part_ns == 200 || part_ns == 250 || part_ns == 500 || part_ns == 750 ||
         part_ns == 800;
}

}  // namespace

int64_t RoundingOf(const HostEvents& host) {
  bool are_whole = true;
  for (const size_t row : EachIndex(host.size())) {
    const int64_t part_ns = host.ts_ns[row] % kMicrosecond;
    are_whole = are_whole && part_ns == 0;
    if (!IsQuarter(part_ns)) {
      return 0;
    }
  }
  return are_whole ? kMicrosecond : kQuarterRounding;
}

namespace {

// More than a stack of Python has, and than rows are looked at again, so that no input makes this
// slow.
constexpr ptrdiff_t kMostDepth = 1024;
constexpr uint64_t kLooksPerRow = 8;

// Functions of Python are named by their file and line, modules by their class.
bool IsOfC(std::string_view name) {
  return name.find(".py(") == std::string_view::npos && !name.starts_with("nn.Module");
}

class Clamp {
 public:
  Clamp(HostEvents& host, const FrameNumbers& numbers, const StringPool& strings,
        Diagnostics& diagnostics)
      : host_(host), numbers_(numbers), strings_(strings), diagnostics_(diagnostics) {}

  void Thread(uint32_t first_row, uint32_t end_row) {
    first_row_ = first_row;
    end_row_ = end_row;
    looks_left_ = kLooksPerRow * (end_row - first_row);
    last_end_ns_ = kMissing;
    last_cut_ns_ = kMissing;
    open_.clear();
    for (const uint32_t row : EachRow(first_row, end_row)) {
      if (host_.kind[row] == HostKind::kPython) {
        Open(row);
      }
    }
  }

  // Frames of a track where events may overlap have no caller there.
  void Overlapping(uint32_t first_row, uint32_t end_row) {
    for (uint32_t row = first_row; row < end_row; ++row) {
      if (host_.kind[row] == HostKind::kPython) {
        host_.detail[row] = kNoDetail;
      }
    }
  }

  bool any() const { return any_; }

 private:
  struct Frame {
    uint32_t row;
    int32_t id;
    int64_t end_ns;
    bool is_cut;  // it had not ended when its caller did
  };

  void Open(uint32_t row) {
    const int64_t begin_ns = host_.ts_ns[row];
    while (!open_.empty() && open_.back().end_ns <= begin_ns) {
      open_.pop_back();
    }
    const uint32_t detail = host_.detail[row];
    const FrameNumbers::Row number =
        detail == kNoDetail ? FrameNumbers::Row() : numbers_.rows[detail];
    host_.detail[row] = kNoDetail;
    int64_t end_ns = host_.end_ns({row});
    if (!open_.empty() && number.caller != FrameNumbers::kNone &&
        open_.back().id != number.caller) {
      EndReturned(number.caller, row);
    } else if (!open_.empty() && detail != kNoDetail && number.caller == FrameNumbers::kNone) {
      EndRepeated(row);
    }
    // The caller, unless it has returned.
    const bool is_cut =
        !open_.empty() && end_ns > open_.back().end_ns && end_ns - open_.back().end_ns > Rounding();
    if (is_cut) {
      end_ns = open_.back().end_ns;
      Cut(row, end_ns, true);
    }
    open_.push_back({row, number.id, end_ns, is_cut});
  }

  // Frames in the caller that had returned by the time it called the next one.
  void EndReturned(int32_t caller, uint32_t row) {
    const auto outermost = open_.rbegin() + std::min(kMostDepth, std::ssize(open_));
    const auto found = std::find_if(open_.rbegin(), outermost,
                                    [&](const Frame& frame) { return frame.id == caller; });
    if (found == outermost && caller != FrameNumbers::kNobody) {
      return;  // of another thread, or not recorded
    }
    const auto inner = found == outermost ? outermost.base() : found.base();
    const int64_t last_ns = LastEnd();
    const int64_t end_ns = host_.end_ns({row});
    const bool is_impossible = std::any_of(inner, open_.end(), [&](const Frame& frame) {
      return frame.is_cut || frame.end_ns >= last_ns || frame.end_ns < end_ns;
    });
    if (!is_impossible) {
      return;  // ends that are somewhat late are not unusual, and do little harm
    }
    Return(static_cast<size_t>(inner - open_.begin()), row);
  }

  // Ends the open frames from the `first` on, which had returned when a frame began: with the last
  // event in each that had ended by then, or, if there is none, where that frame begins. Rows are
  // looked at once, or, where frames further out have missed their returns, too, a few times.
  void Return(size_t first, uint32_t row) {
    const int64_t begin_ns = host_.ts_ns[row];
    int64_t inside_ns = kMissing;
    uint32_t until = row;
    while (open_.size() > first) {
      const Frame frame = open_.back();
      for (uint32_t inner = frame.row + 1; inner < until && looks_left_ > 0; ++inner) {
        --looks_left_;
        const int64_t end_ns = host_.end_ns({inner});
        inside_ns = end_ns <= begin_ns ? std::max(inside_ns, end_ns) : inside_ns;
      }
      inside_ns = inside_ns == kMissing ? begin_ns : inside_ns;
      Cut(frame.row, inside_ns, !frame.is_cut);
      until = frame.row;
      open_.pop_back();
    }
  }

  // A function in C that seems to call itself, without a frame between, and to end with itself last
  // of all: it had returned.
  void EndRepeated(uint32_t row) {
    const Frame& caller = open_.back();
    const std::string_view name = strings_.Get(host_.name[row]);
    if (host_.name[caller.row] == host_.name[row] && host_.ts_ns[caller.row] < host_.ts_ns[row] &&
        host_.end_ns({caller.row}) == host_.end_ns({row}) && IsOfC(name) &&
        host_.end_ns({row}) >= LastEnd()) {
      Return(open_.size() - 1, row);
    }
  }

  void Cut(uint32_t row, int64_t end_ns, bool is_first) {
    if (is_first) {
      diagnostics_.Count(Diag::kClampedFrame, Diagnostics::kNoByte, strings_.Get(host_.name[row]));
    }
    last_cut_ns_ = std::max(last_cut_ns_, host_.end_ns({row}));
    host_.dur_ns[row] = end_ns - host_.ts_ns[row];
    any_ = true;
  }

  // The end of the frame of the thread that ends last, as recorded.
  int64_t LastEnd() {
    if (last_end_ns_ == kMissing) {
      last_end_ns_ = last_cut_ns_;
      for (uint32_t row = first_row_; row < end_row_; ++row) {
        if (host_.kind[row] == HostKind::kPython) {
          last_end_ns_ = std::max(last_end_ns_, host_.end_ns({row}));
        }
      }
    }
    return last_end_ns_;
  }

  int64_t Rounding() {
    if (rounding_ns_ < 0) {
      rounding_ns_ = RoundingOf(host_);
    }
    return rounding_ns_;
  }

  HostEvents& host_;
  const FrameNumbers& numbers_;
  const StringPool& strings_;
  Diagnostics& diagnostics_;
  std::vector<Frame> open_;  // of one thread, each called by the one before it
  uint32_t first_row_ = 0;   // of the thread
  uint32_t end_row_ = 0;
  uint64_t looks_left_ = 0;         // of Return
  int64_t last_end_ns_ = kMissing;  // of the frames of the thread; kMissing: not asked for yet
  int64_t last_cut_ns_ = kMissing;  // of those that were cut so far
  int64_t rounding_ns_ = -1;
  bool any_ = false;
};

}  // namespace

bool ClampFrames(HostEvents& host, const Tracks& tracks, const FrameNumbers& numbers,
                 const StringPool& strings, Diagnostics& diagnostics) {
  if (std::find(host.kind.begin(), host.kind.end(), HostKind::kPython) == host.kind.end()) {
    return false;
  }
  Clamp clamp(host, numbers, strings, diagnostics);
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kHost && tracks.is_async[track] == 0) {
      clamp.Thread(tracks.first_row[track], tracks.end_row[track]);
    } else if (tracks.kind[track] == TrackKind::kHost) {
      clamp.Overlapping(tracks.first_row[track], tracks.end_row[track]);
    }
  }
  return clamp.any();
}

namespace {

// So many later events have to end in the time of one; one if it is very far beyond many peers,
// more if no other has its name.
constexpr int kLeastCovered = 2;
constexpr int kLeastCoveredAlone = 8;
constexpr int kLookAhead = 16;
// So many times as long as the longest sound kernel of the same name and grid; if there are few of
// them, or only such with another grid; if there are none, as the longest of its stream.
constexpr int64_t kFarBeyondPeers = 4;
constexpr int64_t kFarBeyondOthers = 10;
constexpr int64_t kVeryFarBeyondPeers = 50;
// And where its stream is in order by nothing but the ends of its events.
constexpr int64_t kOutOfAllProportion = 1000;
constexpr size_t kFewPeers = 3;
constexpr size_t kManyPeers = 8;
// At most one of so many events of a stream overlaps the one before it; covers others; or either,
// where no other kernel has the name.
constexpr size_t kOrderedShare = 5;
constexpr size_t kSuspectShare = 10;
constexpr size_t kOrderedShareAlone = 100;

// Parts of names of kernels that run as long as other devices or streams let them wait.
constexpr std::string_view kWaiting[] = {
    "ccl",           "allreduce",   "all_reduce", "allgather",      "all_gather",
    "reducescatter", "quickreduce", "broadcast",  "reduce_scatter", "alltoall",
    "all_to_all",    "sendrecv",    "shmem",      "deep_ep",        "cross_device",
    "wait",          "barrier",     "spin",       "signal",         "persistent"};

bool WaitsForOthers(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::any_of(std::begin(kWaiting), std::end(kWaiting),
                     [&](std::string_view word) { return Contains(lower, word); });
}

// The kernels of one name, or of one name and grid; or the copies of one name and size.
struct Peers {
  std::vector<int64_t> sound_ns;  // of those that cover no others
  size_t suspects = 0;            // those that do
  int64_t usual_ns = 0;           // three of four take no longer: some wrong ones cover nothing
  int64_t shortest_ns = 0;

  void Add(int64_t dur_ns, bool is_suspect) {
    if (is_suspect) {
      ++suspects;
    } else {
      sound_ns.push_back(dur_ns);
    }
  }
  void Finish() {
    if (!sound_ns.empty()) {
      const auto quartile = sound_ns.begin() + std::ssize(sound_ns) * 3 / 4;
      std::nth_element(sound_ns.begin(), quartile, sound_ns.end());
      usual_ns = *quartile;
      shortest_ns = *std::min_element(sound_ns.begin(), sound_ns.end());
    }
  }
};

class Overruns {
 public:
  Overruns(DeviceEvents& device, const Kernels& kernels, const Copies& copies,
           const StringPool& strings)
      : device_(device), kernels_(kernels), copies_(copies), strings_(strings) {}

  // Notes the device work of a track that covers later events.
  void FindSuspects(uint32_t first_row, uint32_t end_row);
  bool HasSuspects() const { return !suspects_.empty(); }
  // Of all device work. REQUIRES: all tracks have been looked at.
  void CollectPeers();
  // Cuts those suspects of a track that overran. True if there are any.
  bool CutTrack(uint32_t first_row, uint32_t end_row, Diagnostics& diagnostics);

 private:
  // Kernels are compared with the kernels of their stream: copies may run beside them, as some
  // producers give the copies of all streams one number. Copies are compared with all of its work.
  enum class Compared { kKernels, kAllWork };
  // The work of a stream as a whole.
  struct Stream {
    size_t events = 0;
    size_t suspects = 0;
    size_t overlaps = 0;       // of others that begin before the other one before them has ended
    int64_t longest_ns = 0;    // of the others
    size_t copies = 0;         // of the others
    size_t copy_overlaps = 0;  // of the overlaps those of a copy
  };
  using NameAndSize = std::array<int64_t, 4>;  // the grid of a kernel, the bytes of a copy

  bool IsKernel(uint32_t row) const { return device_.kind[row] == DeviceKind::kKernel; }
  Compared ComparedTo(uint32_t row) const {
    return IsKernel(row) ? Compared::kKernels : Compared::kAllWork;
  }
  bool Counts(uint32_t row, Compared compared) const {
    return compared == Compared::kKernels ? IsKernel(row) : IsDeviceWork(device_.kind[row]);
  }
  int64_t EndOf(uint32_t row) const { return device_.end_ns({row}); }
  uint32_t NextEvent(uint32_t row, uint32_t end_row) const;
  int CoveredBy(uint32_t row, uint32_t end_row, int most) const;
  bool IsOfGraph(uint32_t row) const;
  NameAndSize KeyOf(uint32_t row) const;
  bool IsSuspect(uint32_t row) const {
    return std::binary_search(suspects_.begin(), suspects_.end(), row);
  }
  Stream StreamOf(uint32_t first_row, uint32_t end_row, Compared compared) const;
  // From the begin of an event to that of the next one.
  int64_t GapAfter(uint32_t row, uint32_t end_row) const {
    return device_.ts_ns[NextEvent(row, end_row)] - device_.ts_ns[row];
  }
  bool IsBeyondPeers(uint32_t row, uint32_t end_row, const Stream& stream) const;
  bool IsBeyondCopies(uint32_t row, uint32_t end_row, const Stream& stream) const;
  bool IsBeyondStream(uint32_t row, uint32_t end_row, const Stream& stream) const;
  bool IsBeyondAll(uint32_t row, uint32_t end_row, const Stream& stream) const;
  bool HasOverrun(uint32_t row, uint32_t end_row, const Stream& stream) const;

  DeviceEvents& device_;
  const Kernels& kernels_;
  const Copies& copies_;
  const StringPool& strings_;
  std::vector<uint32_t> suspects_;  // ascending
  HashMap<uint32_t, Peers> of_name_;
  HashMap<NameAndSize, Peers> of_size_;
};

// The next one that the work of a row is compared with.
uint32_t Overruns::NextEvent(uint32_t row, uint32_t end_row) const {
  const Compared compared = ComparedTo(row);
  do {
    ++row;
  } while (row < end_row && !Counts(row, compared));
  return row;
}

// How many of the next events begin after this one and have ended when it ends; -1 if one of them
// is of the same launch.
int Overruns::CoveredBy(uint32_t row, uint32_t end_row, int most) const {
  const Compared compared = ComparedTo(row);
  int covered = 0;
  int seen = 0;
  for (uint32_t next = row + 1; next < end_row && seen < most && device_.ts_ns[next] < EndOf(row);
       ++next) {
    if (!Counts(next, compared)) {
      continue;
    }
    ++seen;
    if (device_.correlation[next] == device_.correlation[row] &&
        device_.correlation[row] != kMissing && device_.correlation[row] > 0) {
      return -1;
    }
    covered += device_.ts_ns[next] > device_.ts_ns[row] && EndOf(next) <= EndOf(row) ? 1 : 0;
  }
  return covered;
}

bool Overruns::IsOfGraph(uint32_t row) const {
  const uint32_t detail = device_.detail[row];
  return IsKernel(row) && detail != kNoDetail && kernels_.graph_node_id[detail] != kMissing;
}

Overruns::NameAndSize Overruns::KeyOf(uint32_t row) const {
  const uint32_t detail = device_.detail[row];
  const int64_t name = device_.name[row].value;
  if (detail == kNoDetail) {
    return {name, -1, -1, -1};
  }
  return IsKernel(row) ? NameAndSize{name, kernels_.grid_x[detail], kernels_.grid_y[detail],
                                     kernels_.grid_z[detail]}
                       : NameAndSize{name, copies_.bytes[detail], -1, -1};
}

// Most events end before the next one begins: nothing else is done for these.
void Overruns::FindSuspects(uint32_t first_row, uint32_t end_row) {
  uint32_t kernel = end_row;
  uint32_t copy = end_row;
  const auto note = [&](uint32_t work, uint32_t next) {
    if (work != end_row && device_.ts_ns[next] < EndOf(work) && !IsOfGraph(work) &&
        CoveredBy(work, end_row, kLookAhead) > 0) {
      suspects_.push_back(work);
    }
  };
  const auto first = suspects_.size();
  for (const uint32_t row : EachRow(first_row, end_row)) {
    if (IsDeviceWork(device_.kind[row])) {
      note(copy, row);
      copy = end_row;
    }
    if (IsKernel(row)) {
      note(kernel, row);
      kernel = row;
    } else if (IsDeviceWork(device_.kind[row])) {
      copy = row;
    }
  }
  std::sort(suspects_.begin() + static_cast<std::ptrdiff_t>(first), suspects_.end());
}

void Overruns::CollectPeers() {
  for (const uint32_t row : suspects_) {
    of_name_[device_.name[row].value];
    of_size_[KeyOf(row)];
  }
  for (const uint32_t row : EachRow(device_.size())) {
    if (!IsDeviceWork(device_.kind[row])) {
      continue;
    }
    const auto named = of_name_.find(device_.name[row].value);
    if (named == of_name_.end()) {
      continue;
    }
    const bool is_suspect = IsSuspect(row);
    named->second.Add(device_.dur_ns[row], is_suspect);
    if (const auto same = of_size_.find(KeyOf(row)); same != of_size_.end()) {
      same->second.Add(device_.dur_ns[row], is_suspect);
    }
  }
  const auto finish = [](auto& peers) {
    for (auto& [key, one] : peers.InAnyOrder()) {  // each by itself
      one.Finish();
    }
  };
  finish(of_name_);
  finish(of_size_);
}

Overruns::Stream Overruns::StreamOf(uint32_t first_row, uint32_t end_row, Compared compared) const {
  Stream stream;
  int64_t busy_until = std::numeric_limits<int64_t>::min();
  bool is_until_copy = false;
  for (const uint32_t row : EachRow(first_row, end_row)) {
    if (!Counts(row, compared)) {
      continue;
    }
    ++stream.events;
    if (IsSuspect(row)) {
      ++stream.suspects;
      continue;
    }
    const bool is_copy = !IsKernel(row);
    const bool overlaps = device_.ts_ns[row] < busy_until;
    stream.overlaps += overlaps ? 1 : 0;
    stream.copies += is_copy ? 1 : 0;
    stream.copy_overlaps += overlaps && (is_copy || is_until_copy) ? 1 : 0;
    stream.longest_ns = std::max(stream.longest_ns, device_.dur_ns[row]);
    is_until_copy = EndOf(row) > busy_until ? is_copy : is_until_copy;
    busy_until = std::max(busy_until, EndOf(row));
  }
  return stream;
}

// By the begin of the next kernel it has ended, if the stream is in order: that cannot be much
// earlier than others end.
bool Overruns::IsBeyondPeers(uint32_t row, uint32_t end_row, const Stream& stream) const {
  const Peers& same = of_size_.find(KeyOf(row))->second;
  const Peers& named = of_name_.find(device_.name[row].value)->second;
  const bool has_same = !same.sound_ns.empty();
  const Peers& peers = has_same ? same : named;
  const bool are_few = !has_same || peers.sound_ns.size() < kFewPeers;
  const bool are_many = has_same && peers.sound_ns.size() >= kManyPeers;
  const bool covers_one = CoveredBy(row, end_row, kLookAhead) < kLeastCovered;
  const int64_t limit = covers_one ? kVeryFarBeyondPeers
                        : are_few  ? kFarBeyondOthers
                                   : kFarBeyondPeers;
  return (are_many || !covers_one) && stream.overlaps * kOrderedShare <= stream.events &&
         peers.suspects <= peers.sound_ns.size() && device_.dur_ns[row] / limit >= peers.usual_ns &&
         GapAfter(row, end_row) >= peers.shortest_ns / 2;
}

// Copies of one size differ more than kernels of one grid, as others share the bus. And where the
// others overlap kernels, their number is not that of one stream.
bool Overruns::IsBeyondCopies(uint32_t row, uint32_t end_row, const Stream& stream) const {
  const Peers& same = of_size_.find(KeyOf(row))->second;
  return same.sound_ns.size() >= kManyPeers && same.suspects <= same.sound_ns.size() &&
         stream.overlaps * kOrderedShare <= stream.events &&
         stream.copy_overlaps * kOrderedShare <= stream.copies &&
         CoveredBy(row, end_row, kLookAhead) >= kLeastCovered &&
         device_.dur_ns[row] / kVeryFarBeyondPeers >= same.usual_ns &&
         GapAfter(row, end_row) >= same.shortest_ns / 2;
}

// The only kernel of its name. Several that all cover others agree with each other.
bool Overruns::IsBeyondStream(uint32_t row, uint32_t end_row, const Stream& stream) const {
  return of_name_.find(device_.name[row].value)->second.suspects == 1 &&
         device_.dur_ns[row] / kFarBeyondOthers >= stream.longest_ns &&
         (stream.overlaps + stream.suspects) * kOrderedShareAlone <= stream.events &&
         CoveredBy(row, end_row, kLookAhead) >= kLeastCoveredAlone;
}

// A stream whose events overlap, but end in the order of their begins, as those that are launched
// early do: what ends long after many others that began later is out of all proportion.
bool Overruns::IsBeyondAll(uint32_t row, uint32_t end_row, const Stream& stream) const {
  const Peers& same = of_size_.find(KeyOf(row))->second;
  return same.sound_ns.size() >= kManyPeers && same.suspects <= same.sound_ns.size() &&
         stream.suspects * kOrderedShareAlone <= stream.events &&
         (IsKernel(row) || stream.copy_overlaps * kOrderedShare <= stream.copies) &&
         CoveredBy(row, end_row, kLookAhead) >= kLeastCoveredAlone &&
         device_.dur_ns[row] / kOutOfAllProportion >= std::max<int64_t>(1, same.usual_ns);
}

bool Overruns::HasOverrun(uint32_t row, uint32_t end_row, const Stream& stream) const {
  if (stream.suspects * kSuspectShare > stream.events) {
    return false;
  }
  if (IsBeyondAll(row, end_row, stream)) {
    return true;
  }
  if (!IsKernel(row)) {
    return IsBeyondCopies(row, end_row, stream);
  }
  return of_name_.find(device_.name[row].value)->second.sound_ns.empty()
             ? IsBeyondStream(row, end_row, stream)
             : IsBeyondPeers(row, end_row, stream);
}

bool Overruns::CutTrack(uint32_t first_row, uint32_t end_row, Diagnostics& diagnostics) {
  const auto begin = std::lower_bound(suspects_.begin(), suspects_.end(), first_row);
  const auto end = std::lower_bound(begin, suspects_.end(), end_row);
  if (begin == end) {
    return false;
  }
  const Stream kernels = StreamOf(first_row, end_row, Compared::kKernels);
  const Stream all = StreamOf(first_row, end_row, Compared::kAllWork);
  bool any = false;
  for (const uint32_t row : std::span(begin, end)) {
    const std::string_view name = strings_.Get(device_.name[row]);
    if (HasOverrun(row, end_row, IsKernel(row) ? kernels : all) && !WaitsForOthers(name)) {
      diagnostics.Count(Diag::kImpossibleDuration, Diagnostics::kNoByte, name);
      device_.dur_ns[row] = GapAfter(row, end_row);
      any = true;
    }
  }
  return any;
}

}  // namespace

bool CutOverruns(DeviceEvents& device, const Kernels& kernels, const Copies& copies,
                 const Tracks& tracks, const StringPool& strings, Diagnostics& diagnostics) {
  Overruns overruns(device, kernels, copies, strings);
  const auto for_each_track = [&](const auto& visit) {
    for (size_t track = 0; track < tracks.size(); ++track) {
      if (tracks.kind[track] == TrackKind::kDevice) {
        visit(tracks.first_row[track], tracks.end_row[track]);
      }
    }
  };
  for_each_track([&](uint32_t first, uint32_t end) { overruns.FindSuspects(first, end); });
  if (!overruns.HasSuspects()) {
    return false;
  }
  overruns.CollectPeers();
  bool any = false;
  for_each_track([&](uint32_t first, uint32_t end) {
    any = overruns.CutTrack(first, end, diagnostics) || any;
  });
  return any;
}

}  // namespace borescope::internal
