#include "borescope/analysis/measures/align_inherited.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {
namespace {

constexpr size_t kGram = 8;         // the least length of a run
constexpr size_t kMostPlaces = 64;  // of one gram that are compared
// The work after a place must look like the work after the inherited work. If the best place agrees
// for at least this length, places that agree for less than half as long have no vote.
constexpr size_t kTellingForward = 64;
// Comparing by name alone, without grid, block and bytes, is preferred if it assigns this much
// more.
constexpr double kWorthLosing = 0.02;
constexpr size_t kWorthLosingItems = 4;

// The length of the longest common prefix of text[i..] and text, for every i (Gusfield's Z).
std::vector<uint32_t> PrefixLengths(std::span<const uint32_t> text) {
  std::vector<uint32_t> lengths(text.size() + 1, 0);
  size_t begin = 0;
  size_t end = 0;
  for (const size_t i : EachIndex(1, text.size())) {
    size_t length = i < end ? std::min<size_t>(end - i, lengths[i - begin]) : 0;
    while (i + length < text.size() && text[length] == text[i + length]) {
      ++length;
    }
    lengths[i] = static_cast<uint32_t>(length);
    if (i + length > end) {
      begin = i;
      end = i + length;
    }
  }
  return lengths;
}

// Every kGram neighbours of a sequence, by where they end.
class GramIndex {
 public:
  explicit GramIndex(std::span<const uint32_t> text) : groups_(kGram) {
    std::array<int64_t, kGram> gram{};
    for (const size_t end : EachIndex(kGram - 1, text.size())) {
      std::copy_n(text.begin() + static_cast<ptrdiff_t>(end + 1 - kGram), kGram, gram.begin());
      const uint32_t group = groups_.Find(gram);
      ends_.resize(groups_.size());
      ends_[group].push_back(static_cast<uint32_t>(end));
    }
  }

  // Ascending; empty where there are none.
  std::span<const uint32_t> EndsOf(std::span<const uint32_t> gram) {
    std::array<int64_t, kGram> key{};
    std::copy(gram.begin(), gram.end(), key.begin());
    const uint32_t group = groups_.Find(key);
    return group < ends_.size() ? std::span<const uint32_t>(ends_[group])
                                : std::span<const uint32_t>();
  }

 private:
  Grouper groups_;
  std::vector<std::vector<uint32_t>> ends_;
};

class Aligner {
 public:
  explicit Aligner(const AlignmentInput& input)
      : in_(input), forward_(PrefixLengths(input.launched)), grams_(input.launched) {
    // What follows the end of all launched work is not known.
    forward_.front() = static_cast<uint32_t>(input.launched.size());
    found_.place.assign(input.inherited.size(), kNotAligned);
  }

  Alignment Find() {
    auto at = static_cast<ptrdiff_t>(in_.inherited.size()) - 1;
    while (at >= 0) {
      const auto last = static_cast<size_t>(at);
      FindCandidates(last);
      if (candidates_.empty()) {
        --at;
        expected_ = found_.runs == 0 ? 0 : (expected_ + found_.period - 1) % found_.period;
        continue;
      }
      at -= static_cast<ptrdiff_t>(AssignRun(last));
    }
    return std::move(found_);
  }

 private:
  struct Candidate {
    size_t end;
    size_t run;
  };

  // For how many tokens inherited[..last] and launched[..end] are equal, compared backwards from
  // there.
  size_t RunAt(size_t last, size_t end) const {
    const size_t most = std::min(last, end) + 1;
    size_t run = 0;
    while (run < most && in_.inherited[last - run] == in_.launched[end - run]) {
      ++run;
    }
    return run;
  }

  size_t DistanceOf(size_t end) const {
    return end > expected_ ? end - expected_ : expected_ - end;
  }
  size_t ForwardOf(size_t end) const { return end + 1 < forward_.size() ? forward_[end + 1] : 0; }

  void FindCandidates(size_t last) {
    candidates_.clear();
    const bool is_first = found_.runs == 0;
    std::vector<size_t> ends;
    size_t least = kGram;
    if (last + 1 >= kGram) {
      const auto found = grams_.EndsOf(in_.inherited.subspan(last + 1 - kGram, kGram));
      ends.assign(found.begin(), found.end());
    } else {
      least = last + 1;
      for (size_t end = last; end < in_.launched.size(); ++end) {
        if (is_first || end % found_.period == expected_) {
          ends.push_back(end);
        }
      }
    }
    // A short piece matches by chance, unless it is where it is expected, or is all of it.
    if (ends.size() > kMostPlaces) {
      const auto is_better = [&](size_t a, size_t b) {
        const size_t rank_a = is_first ? ~ForwardOf(a) : DistanceOf(a);
        const size_t rank_b = is_first ? ~ForwardOf(b) : DistanceOf(b);
        return std::tuple(rank_a, a) < std::tuple(rank_b, b);
      };
      std::nth_element(ends.begin(), ends.begin() + kMostPlaces, ends.end(), is_better);
      ends.resize(kMostPlaces);
    }
    for (const size_t end : ends) {
      if (const size_t run = RunAt(last, end); run >= least) {
        candidates_.push_back({end, run});
      }
    }
  }

  const Candidate& Best() const {
    const bool is_first = found_.runs == 0;
    return *std::min_element(
        candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
          const auto key = [&](const Candidate& one) {
            return std::tuple(~one.run, is_first ? ~ForwardOf(one.end) : DistanceOf(one.end),
                              one.end);
          };
          return key(a) < key(b);
        });
  }

  // Whether a candidate may object to the best one.
  bool Votes(const Candidate& candidate, const Candidate& best) const {
    const size_t forward = ForwardOf(best.end);
    const bool is_telling =
        found_.runs == 0 && forward >= kTellingForward && forward >= in_.launched.size() / 4;
    return !is_telling || 2 * ForwardOf(candidate.end) >= forward;
  }

  size_t AssignRun(size_t last) {
    const Candidate best = Best();
    std::vector<Candidate> others;
    for (const Candidate& candidate : candidates_) {
      if (candidate.end != best.end && Votes(candidate, best)) {
        others.push_back(candidate);
      }
    }
    for (const size_t back : EachIndex(best.run)) {
      const size_t place = best.end - back;
      const bool is_sure = std::all_of(others.begin(), others.end(), [&](const Candidate& other) {
        return other.run <= back || in_.kind_of_place[other.end - back] == in_.kind_of_place[place];
      });
      if (is_sure) {
        found_.place[last - back] = static_cast<uint32_t>(place);
        ++found_.assigned;
      }
    }
    if (found_.runs++ == 0) {
      found_.period = best.end + 1;
      found_.back = best.run;
      found_.forward = ForwardOf(best.end);
    }
    expected_ = (best.end + found_.period - best.run) % found_.period;
    return best.run;
  }

  const AlignmentInput in_;
  std::vector<uint32_t> forward_;  // per place of launched; one more
  GramIndex grams_;
  std::vector<Candidate> candidates_;
  size_t expected_ = 0;  // where the next run should end, modulo the period
  Alignment found_;
};

// The work of a rank in the order of its launches, as tokens.
class WorkSequences {
 public:
  explicit WorkSequences(const RankView& view)
      : view_(view),
        trace_(view.trace),
        inherited_work_(SharedInheritedWork(view)),
        phases_(SharedHostPhases(view)) {
    Collect();
  }

  const std::vector<DeviceId>& inherited() const { return inherited_; }
  const std::vector<DeviceId>& launched() const { return launched_; }

  // Whether any inherited work says more than its name.
  bool HasSizes() const {
    return std::any_of(inherited_.begin(), inherited_.end(), [&](DeviceId id) {
      const auto sizes = SizesOf(id);
      return std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; });
    });
  }

  struct Tokens {
    std::vector<uint32_t> inherited, launched, kinds;
    AlignmentInput Input() const { return {inherited, launched, kinds}; }
  };

  Tokens TokensOf(bool by_name) const {
    Grouper looks(10);
    const auto look_of = [&](DeviceId id) {
      const DeviceEvents& device = trace_.device();
      std::array<int64_t, 10> look{static_cast<int64_t>(device.kind[id.value]),
                                   device.name[id.value].value, device.track[id.value].value};
      if (!by_name) {
        const auto sizes = SizesOf(id);
        std::copy(sizes.begin(), sizes.end(), look.begin() + 3);
      }
      return looks.Find(look);
    };
    Tokens tokens;
    for (const DeviceId id : inherited_) {
      tokens.inherited.push_back(look_of(id));
    }
    Grouper kinds(2);
    for (const DeviceId id : launched_) {
      tokens.launched.push_back(look_of(id));
      const HostId op = view_.index.correlation.op_of[id.value];
      const std::array<int64_t, 2> kind{
          op.valid() ? int64_t{trace_.host().name[op.value].value} : -1,
          static_cast<int64_t>(PhaseOf(view_, *phases_, id))};
      tokens.kinds.push_back(kinds.Find(kind));
    }
    return tokens;
  }

 private:
  // Grid and block of a kernel; the bytes of a copy.
  std::array<int64_t, 7> SizesOf(DeviceId id) const {
    std::array<int64_t, 7> sizes{-1, -1, -1, -1, -1, -1, -1};
    const uint32_t row = trace_.device().detail[id.value];
    if (row == kNoDetail) {
      return sizes;
    }
    if (trace_.device().kind[id.value] == DeviceKind::kKernel) {
      const Kernels& kernels = trace_.kernels();
      sizes = {kernels.grid_x[row],
               kernels.grid_y[row],
               kernels.grid_z[row],
               kernels.block_x[row],
               kernels.block_y[row],
               kernels.block_z[row],
               -1};
    } else {
      sizes.back() = trace_.copies().bytes[row];
    }
    return sizes;
  }

  void Collect() {
    const DeviceEvents& device = trace_.device();
    bool has_numbers = true;
    for (const uint32_t row : EachRow(device.size())) {
      const DeviceId id{row};
      const bool is_inherited = inherited_work_->IsInherited(id);
      const bool is_launched =
          IsDeviceWork(device.kind[row]) && view_.index.correlation.launch_of[row].valid();
      if (is_inherited || is_launched) {
        (is_inherited ? inherited_ : launched_).push_back(id);
        has_numbers = has_numbers && IsCorrelation(device.correlation[row]);
      }
    }
    // Without correlation numbers, stream by stream, which is the order of rows.
    if (has_numbers) {
      const auto by_launch = [&](DeviceId a, DeviceId b) {
        const auto key = [&](DeviceId id) {
          return std::tuple(device.correlation[id.value], device.ts_ns[id.value], id.value);
        };
        return key(a) < key(b);
      };
      std::sort(inherited_.begin(), inherited_.end(), by_launch);
      std::sort(launched_.begin(), launched_.end(), by_launch);
    }
  }

  const RankView& view_;
  const Trace& trace_;
  std::shared_ptr<const InheritedWork> inherited_work_;
  std::shared_ptr<const std::vector<Phase>> phases_;
  std::vector<DeviceId> inherited_;
  std::vector<DeviceId> launched_;
};

// Tests the algorithm on work whose operators are known, if more than one iteration was launched.
// Where possible a whole period is left to compare with.
void TestOnLaunched(const WorkSequences::Tokens& tokens, AlignedWork& work) {
  const size_t launched_works = tokens.launched.size();
  const size_t beside_period = launched_works - std::min(launched_works, work.found.period);
  const size_t most = beside_period == 0      ? 0
                      : beside_period < kGram ? launched_works / 2
                                              : std::min(launched_works / 2, beside_period);
  const size_t hidden = std::min(tokens.inherited.size(), most);
  if (hidden < kGram) {
    return;
  }
  const std::span<const uint32_t> launched = tokens.launched;
  const std::span<const uint32_t> kinds = tokens.kinds;
  const Alignment found =
      Align({launched.first(hidden), launched.subspan(hidden), kinds.subspan(hidden)});
  size_t right = 0;
  for (size_t i = 0; i < hidden; ++i) {
    right += found.place[i] != kNotAligned && kinds[i] == kinds[hidden + found.place[i]] ? 1 : 0;
  }
  work.self_recall = static_cast<double>(right) / static_cast<double>(hidden);
  if (found.assigned != 0) {
    work.self_precision = static_cast<double>(right) / static_cast<double>(found.assigned);
  }
}

// Whether all is one run: a run that reaches the begin of the launched work continues in the next
// run, at the end of the period.
bool IsOneRun(const Alignment& found) {
  const size_t periods =
      (found.place.size() + found.period - 1) / std::max<size_t>(found.period, 1);
  return found.runs == 1 || (found.back == found.period && found.runs <= periods);
}

// Whether the work after the place looks like the work after the inherited work: for half of the
// launched work; or up to its end and, together with the run before it, for a quarter of it; or
// there is only one iteration.
bool GoesOn(const Alignment& found, size_t launched) {
  const size_t around = found.back + found.forward;
  const bool ends_alike = IsOneRun(found) && found.period + found.forward == launched &&
                          found.forward >= kGram && around >= kTellingForward &&
                          4 * around >= launched;
  return 2 * found.forward >= launched || found.period == launched || ends_alike;
}

// `begins_with_step`: the recording begins with a step, not in the middle of one.
AlignmentConfidence ConfidenceOf(const AlignedWork& work, size_t launched, bool begins_with_step) {
  constexpr double kSure = 0.99;
  constexpr double kFair = 0.98;
  constexpr size_t kMany = 64;
  if (work.assigned == 0) {
    return AlignmentConfidence::kNone;
  }
  const bool is_tested = work.self_precision <= 1;
  // All inherited work is the end of the only iteration, after which the next one begins.
  const bool is_end = work.found.period == launched && begins_with_step && work.found.runs == 1 &&
                      work.found.back == work.works && work.works >= kGram;
  if (IsOneRun(work.found) && GoesOn(work.found, launched) &&
      (is_tested ? work.self_precision >= kSure : is_end || work.works >= kMany)) {
    return AlignmentConfidence::kHigh;
  }
  return 2 * work.assigned_ns >= work.device_ns && is_tested && work.self_precision >= kFair
             ? AlignmentConfidence::kMedium
             : AlignmentConfidence::kLow;
}

int64_t StepNumberOf(const RankView& view, DeviceId id) {
  const uint32_t step = StepOf(view, id, StepRule::kLaunch);
  return step == kNoStep ? kMissing : view.steps().steps[step].number;
}

// Operators and ranges that began before the recording are missing around the first launches. One
// period later they are recorded, so a place at the start is moved on by a period.
size_t WholePlace(const Alignment& found, size_t launched, size_t place) {
  return place < found.forward && GoesOn(found, launched) ? place + found.period : place;
}

Alignment AlignTokens(WorkSequences::Tokens& tokens) {
  Alignment found = Align(tokens.Input());
  std::vector<uint32_t> kinds(tokens.kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    kinds[i] = tokens.kinds[WholePlace(found, kinds.size(), i)];
  }
  if (kinds != tokens.kinds) {
    tokens.kinds = std::move(kinds);
    found = Align(tokens.Input());
  }
  return found;
}

// How many steps a period of the program takes; kMissing where steps were not recorded.
int64_t StepsOfPeriod(const RankView& view, const WorkSequences& sequences,
                      const Alignment& found) {
  const std::vector<DeviceId>& launched = sequences.launched();
  if (found.period >= launched.size()) {
    const int64_t first = StepNumberOf(view, launched.front());
    const int64_t last = StepNumberOf(view, launched.back());
    return first == kMissing || last == kMissing ? kMissing : last - first + 1;
  }
  for (size_t i = 0; i < found.forward; ++i) {
    const int64_t first = StepNumberOf(view, launched[i]);
    const int64_t next = StepNumberOf(view, launched[i + found.period]);
    if (first != kMissing && next != kMissing) {
      return next - first;
    }
  }
  return kMissing;
}

// The steps of inherited work: the step of the work that it resembles, less one period each time
// that the place wraps around beyond the first launched work.
void FindSteps(const RankView& view, const WorkSequences& sequences, AlignedWork& result) {
  result.step.assign(result.like.size(), kMissing);
  const int64_t period = StepsOfPeriod(view, sequences, result.found);
  if (!result.knows_place || period == kMissing) {
    return;
  }
  int64_t back = period;
  uint32_t later = kNotAligned;
  for (size_t i = result.works; i-- > 0;) {
    const uint32_t place = result.found.place[i];
    if (place == kNotAligned) {
      continue;
    }
    back += place > later ? period : 0;
    later = place;
    const DeviceId id = sequences.inherited()[i];
    const int64_t step = StepNumberOf(view, result.like[id.value]);
    const size_t whole = WholePlace(result.found, sequences.launched().size(), place);
    const int64_t before = back + (whole != place ? period : 0);
    if (step != kMissing && step >= before) {
      result.step[id.value] = step - before;
    }
  }
}

AlignedWork AlignWork(const RankView& view) {
  AlignedWork result;
  if (SharedInheritedWork(view)->devices.empty()) {
    return result;
  }
  const WorkSequences sequences(view);
  result.works = sequences.inherited().size();
  if (result.works == 0 || sequences.launched().empty()) {
    return result;
  }
  WorkSequences::Tokens tokens = sequences.TokensOf(false);
  result.found = AlignTokens(tokens);
  WorkSequences::Tokens names = sequences.TokensOf(true);
  Alignment by_name = AlignTokens(names);
  const size_t worth = result.found.assigned + kWorthLosingItems +
                       static_cast<size_t>(kWorthLosing * static_cast<double>(result.works));
  if (!sequences.HasSizes() || by_name.assigned >= worth) {
    result.is_by_name = true;
    result.found = std::move(by_name);
    tokens = std::move(names);
  }
  const DeviceEvents& device = view.trace.device();
  result.like.assign(device.size(), DeviceId{});
  for (size_t i = 0; i < result.works; ++i) {
    const DeviceId id = sequences.inherited()[i];
    AddSaturatingTo(result.device_ns, device.dur_ns[id.value]);
    if (result.found.place[i] != kNotAligned) {
      result.like[id.value] = sequences.launched()[WholePlace(
          result.found, sequences.launched().size(), result.found.place[i])];
      AddSaturatingTo(result.assigned_ns, device.dur_ns[id.value]);
    }
  }
  result.assigned = result.found.assigned;
  TestOnLaunched(tokens, result);
  const bool begins_with_step = StepNumberOf(view, sequences.launched().front()) != kMissing;
  result.confidence = ConfidenceOf(result, sequences.launched().size(), begins_with_step);
  result.knows_place = result.found.back >= kGram &&
                       GoesOn(result.found, sequences.launched().size()) &&
                       (result.found.period < sequences.launched().size() || begins_with_step);
  FindSteps(view, sequences, result);
  return result;
}

}  // namespace

Alignment Align(const AlignmentInput& input) {
  return input.launched.empty()
             ? Alignment{std::vector<uint32_t>(input.inherited.size(), kNotAligned)}
             : Aligner(input).Find();
}

std::string_view AlignmentConfidenceName(AlignmentConfidence confidence) {
  switch (confidence) {
    case AlignmentConfidence::kNone:
      return "none";
    case AlignmentConfidence::kLow:
      return "low";
    case AlignmentConfidence::kMedium:
      return "medium";
    case AlignmentConfidence::kHigh:
      return "high";
  }
  return "";
}

std::shared_ptr<const AlignedWork> SharedAlignedWork(const RankView& view) {
  return view.Shared<AlignedWork>([&] { return AlignWork(view); });
}

}  // namespace borescope::internal
