#include "borescope/postmortem/memory/fixes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal::postmortem {

namespace {

// Sites that allocate between the begins of all neighbouring steps.
std::vector<bool> SitesOfEachStep(const DeviceMemory& device, const MemorySites& sites,
                                  const std::vector<MemoryStep>& steps, uint32_t until) {
  std::vector<bool> in_each(sites.size(), false);
  std::vector<size_t> seen(sites.size(), 0);
  size_t whole_steps = 0;
  for (size_t s = 0; s + 1 < steps.size() && steps[s + 1].begin <= until; ++s) {
    ++whole_steps;
    for (uint32_t i = steps[s].begin; i < steps[s + 1].begin; ++i) {
      const MemoryEvent& event = device.events[i];
      if (event.action != MemoryAction::kAlloc) continue;
      size_t& of_site = seen[sites.Of(event.stack)];
      if (of_site == whole_steps - 1) of_site = whole_steps;
    }
  }
  for (size_t site = 0; site < seen.size(); ++site) {
    in_each[site] = whole_steps > 0 && seen[site] == whole_steps;
  }
  return in_each;
}

// Whether a batch that is smaller by some percent makes a block smaller by as much.
bool ScalesWithBatch(MemoryCategory category, const MemorySites::Signs& signs, bool in_each_step) {
  switch (category) {
    case MemoryCategory::kActivation:
      return true;
    case MemoryCategory::kTemporary:
    case MemoryCategory::kHeld:
    case MemoryCategory::kBefore:
      return in_each_step && !signs.is_optimizer;
    default:
      return false;
  }
}

class StreamBuilder {
 public:
  StreamBuilder(const DeviceMemory& device, const Replay& replay, const OomState& oom)
      : device_(device), replay_(replay), oom_(oom) {}

  RequestStream Build(const MemorySites& sites, const MemoryCategories& categories,
                      const std::vector<MemoryStep>& steps) {
    const std::vector<bool> in_each = SitesOfEachStep(device_, sites, steps, oom_.event);
    const uint32_t pass = BeginOfPass(sites, steps);
    has_completions_ = std::any_of(
        device_.events.begin(), device_.events.end(),
        [](const MemoryEvent& event) { return event.action == MemoryAction::kFreeCompleted; });
    request_of_.resize(oom_.event, kNoIndex);
    for (const StartBlock& block : replay_.start_blocks) {
      AddRequest({block.requested, block.stack, block.lane, false});
    }
    for (uint32_t i = 0; i < oom_.event; ++i) {
      const MemoryEvent& event = device_.events[i];
      if (event.action == MemoryAction::kAlloc) {
        request_of_[i] = static_cast<uint32_t>(stream_.requests.size());
        const MemorySites::Signs& signs = sites.Of(event);
        // What a forward pass keeps is an activation, also where the failure came before backward.
        const bool is_of_pass = i >= pass && replay_.links[i] > oom_.event && signs.is_forward &&
                                !signs.is_parameter && !signs.is_optimizer && !signs.is_backward;
        AddRequest({event.size, event.stack, event.lane,
                    is_of_pass || ScalesWithBatch(categories.events[i], signs,
                                                  in_each[sites.Of(event.stack)])});
      } else {
        AddOther(i, event);
      }
    }
    const MemoryEvent& failed = device_.events[oom_.event];
    const uint32_t site = sites.Of(failed.stack);
    const MemorySites::Signs& signs = sites.Of(failed);
    const bool is_of_model = signs.is_forward || signs.is_backward || in_each[site];
    const bool scales =
        is_of_model && !signs.is_optimizer && !IsOfGradients(sites, categories, failed);
    stream_.failed = {oom_.size, failed.stack, oom_.lane, scales};
    stream_.is_failed_known = is_of_model || signs.is_optimizer || signs.is_parameter;
    stream_.is_exact = replay_.is_exact();
    return std::move(stream_);
  }

 private:
  // The first event after the last backward pass and the last whole step before the failure.
  uint32_t BeginOfPass(const MemorySites& sites, const std::vector<MemoryStep>& steps) const {
    uint32_t begin = 0;
    for (const MemoryStep& step : steps) {
      if (step.end <= oom_.event) begin = std::max(begin, step.end);
    }
    for (uint32_t i = oom_.event; i-- > begin;) {
      const MemoryEvent& event = device_.events[i];
      if (event.action == MemoryAction::kAlloc && sites.Of(event).is_backward) return i + 1;
    }
    return begin;
  }

  // Whether the same function of the backward pass asked for as much before, for gradients, which
  // are as large as parameters.
  bool IsOfGradients(const MemorySites& sites, const MemoryCategories& categories,
                     const MemoryEvent& failed) const {
    if (!sites.Of(failed).is_backward) return false;
    uint64_t same = 0;
    uint64_t gradients = 0;
    for (uint32_t i = 0; i < oom_.event; ++i) {
      const MemoryEvent& event = device_.events[i];
      if (event.action != MemoryAction::kAlloc || sites.Of(event.stack) != sites.Of(failed.stack) ||
          event.size > oom_.size || oom_.size - event.size >= kSmallestBlock) {
        continue;
      }
      ++same;
      gradients += categories.events[i] == MemoryCategory::kGradient ? 1 : 0;
    }
    return gradients > same / 2;
  }

  void AddRequest(const RequestStream::Request& request) {
    AddStep(RequestStream::kAllocate, static_cast<uint32_t>(stream_.requests.size()));
    stream_.requests.push_back(request);
  }
  void AddStep(RequestStream::Kind kind, uint32_t request) {
    stream_.steps.push_back({request << 2 | kind});
  }

  void AddOther(uint32_t i, const MemoryEvent& event) {
    if (event.action == MemoryAction::kFreeRequested ||
        event.action == MemoryAction::kFreeCompleted) {
      AddFree(i, event);
    } else if (event.action == MemoryAction::kSegmentFree ||
               event.action == MemoryAction::kSegmentUnmap) {
      if (IsEmptyCache(i, event)) AddStep(RequestStream::kEmptyCache, 0);
    }
  }

  void AddFree(uint32_t i, const MemoryEvent& event) {
    const uint32_t owner = replay_.links[i];
    if (owner == kNoIndex) return;
    const bool is_start = owner >= Replay::kStartBlock;
    const uint32_t request = is_start ? owner - Replay::kStartBlock : request_of_[owner];
    const uint32_t freed = is_start ? replay_.start_blocks[request].freed : replay_.links[owner];
    if (freed == i) AddStep(RequestStream::kRequestFree, request);
    if (event.action == MemoryAction::kFreeCompleted || !has_completions_) {
      AddStep(RequestStream::kCompleteFree, request);
    }
  }

  // The last of some segments that were given back, unless the allocator itself did so to serve a
  // request: then a segment or a failure of the same call follows.
  bool IsEmptyCache(uint32_t i, const MemoryEvent& event) const {
    if (i + 1 >= device_.events.size()) return true;
    const MemoryEvent& next = device_.events[i + 1];
    switch (next.action) {
      case MemoryAction::kSegmentFree:
      case MemoryAction::kSegmentUnmap:
        return false;
      case MemoryAction::kSegmentAlloc:
      case MemoryAction::kSegmentMap:
      case MemoryAction::kOom:
        return next.stack != event.stack;
      default:
        return true;
    }
  }

  const DeviceMemory& device_;
  const Replay& replay_;
  const OomState& oom_;
  bool has_completions_ = false;
  std::vector<uint32_t> request_of_;  // by event
  RequestStream stream_;
};

}  // namespace

RequestStream RequestsUntil(const DeviceMemory& device, const Replay& replay, const OomState& oom,
                            const MemorySites& sites, const MemoryCategories& categories,
                            const std::vector<MemoryStep>& steps) {
  return StreamBuilder(device, replay, oom).Build(sites, categories, steps);
}

ReplayedChange ReplayChange(const RequestStream& stream, std::span<const MemoryLane> lanes,
                            const MemoryChange& change,
                            std::chrono::steady_clock::time_point until) {
  Allocator allocator(change.settings, lanes, change.bounds);
  std::vector<uint32_t> blocks(stream.requests.size(), kNoIndex);
  const auto allocate = [&](const RequestStream::Request& request, uint32_t owner,
                            uint32_t& block) {
    const uint64_t size = change.size_of ? change.size_of(request) : request.size;
    if (size == 0 && request.size != 0) return true;
    if (change.empties_before && change.empties_before(request)) allocator.EmptyCache();
    block = allocator.Allocate(size, request.lane, owner);
    return block != kNoIndex;
  };
  ReplayedChange replayed;
  size_t steps = 0;
  for (const RequestStream::Step& step : stream.steps) {
    CheckStopAt(steps++);
    constexpr size_t kLookAtClock = 256;
    if (steps % kLookAtClock == 0 && std::chrono::steady_clock::now() >= until) {
      replayed.is_stopped = true;
      return replayed;
    }
    switch (step.kind()) {
      case RequestStream::kAllocate:
        if (!allocate(stream.requests[step.request()], step.request(), blocks[step.request()])) {
          return replayed;
        }
        break;
      case RequestStream::kRequestFree:
        if (blocks[step.request()] != kNoIndex) {
          allocator.RequestFree(blocks[step.request()], step.request());
        }
        break;
      case RequestStream::kCompleteFree:
        if (blocks[step.request()] != kNoIndex) {
          allocator.CompleteFree(blocks[step.request()], step.request());
        }
        break;
      default:
        allocator.EmptyCache();
        break;
    }
  }
  uint32_t block = kNoIndex;
  replayed.is_served =
      allocate(stream.failed, static_cast<uint32_t>(stream.requests.size()), block);
  replayed.reserved_bytes = allocator.counters().reserved;
  return replayed;
}

std::string_view Name(Fits fits) {
  switch (fits) {
    case Fits::kYes:
      return "yes";
    case Fits::kNo:
      return "no";
    case Fits::kCannotTell:
      return "cannot tell";
    case Fits::kEnd:
      break;
  }
  return "";
}

namespace {

constexpr size_t kMostSites = 20;

std::string Percent(uint64_t percent) { return std::to_string(percent) + " %"; }

// Tries changes one after the other until the time is over.
class FixFinder {
 public:
  FixFinder(const MemorySnapshot& snapshot, const OomReport& report, const MemorySites& sites,
            const RequestStream& stream, std::span<const uint32_t> growing,
            std::chrono::nanoseconds budget)
      : snapshot_(snapshot),
        report_(report),
        sites_(sites),
        stream_(stream),
        growing_(growing),
        end_(std::chrono::steady_clock::now() + budget) {
    low_.capacity = high_.capacity = report.capacity;
    if (report.capacity.has_value()) low_.device_bytes = high_.device_bytes = *report.capacity;
    if (report.allowed.has_value()) {
      low_.limit = report.allowed->low;
      high_.limit = report.allowed->high;
    }
  }

  MemoryFixes Find(const std::vector<LiveMemory>& live) {
    found_.is_reproduced =
        !Replay({.settings = snapshot_.settings, .bounds = high_}).is_served && !is_out_of_time_;
    SumSites(live);
    found_.forward_bytes = BatchBytes(
        [&](const Request& request) { return sites_.SignsOf(request.stack).is_forward; });
    TrySettings();
    TryLimit();
    TryEmptyCache();
    TrySmallerRequest();
    TryWithoutGrowth();
    TrySites();
    TrySmallerBatch();
    for (MemoryFix& fix : found_.fixes) {
      if (!found_.is_reproduced && fix.fits == Fits::kYes) fix.fits = Fits::kCannotTell;
    }
    std::stable_sort(found_.fixes.begin(), found_.fixes.end(),
                     [](const MemoryFix& a, const MemoryFix& b) { return Order(a) < Order(b); });
    return std::move(found_);
  }

 private:
  using Request = RequestStream::Request;

  static std::tuple<int, bool, uint64_t> Order(const MemoryFix& fix) {
    const int fits = fix.fits == Fits::kYes ? 0 : fix.fits == Fits::kCannotTell ? 1 : 2;
    return {fits, fix.setting.empty(), fix.changed_bytes.value_or(0)};
  }

  bool HasTime() {
    if (std::chrono::steady_clock::now() < end_) return true;
    ++found_.not_tried;
    return false;
  }

  ReplayedChange Replay(const MemoryChange& change) {
    const ReplayedChange replayed = ReplayChange(stream_, snapshot_.lanes, change, end_);
    is_out_of_time_ = is_out_of_time_ || replayed.is_stopped;
    return replayed;
  }

  // The answer under both ends of what the process may have.
  struct Answer {
    Fits fits = Fits::kNo;
    uint64_t reserved = 0;
  };
  Answer Try(MemoryChange change) {
    change.bounds = low_;
    const ReplayedChange low = Replay(change);
    if (low.is_served) return {Fits::kYes, low.reserved_bytes};
    if (low_.limit == high_.limit) return {};
    change.bounds = high_;
    const ReplayedChange high = Replay(change);
    return high.is_served ? Answer{Fits::kCannotTell, high.reserved_bytes} : Answer{};
  }

  // Nothing where a replay for it was not finished.
  void Add(MemoryFix fix, const Answer& answer, bool is_checked) {
    if (is_out_of_time_) {
      ++found_.not_tried;
      return;
    }
    fix.fits = answer.fits;
    if (answer.fits != Fits::kNo) {
      fix.reserved_bytes = answer.reserved;
      // What is left is known where the limit is.
      const std::optional<uint64_t> room =
          report_.allowed.has_value() && report_.allowed->is_exact()
              ? std::optional(report_.allowed->low)
              : report_.capacity;
      if (room.has_value() && *room >= answer.reserved) fix.spare_bytes = *room - answer.reserved;
    }
    fix.is_certain = is_checked && stream_.is_exact && answer.fits != Fits::kCannotTell;
    found_.fixes.push_back(std::move(fix));
  }

  void TrySetting(const std::string& text, const AllocatorSettings& settings) {
    if (!HasTime()) return;
    const Answer answer = Try({.settings = settings, .bounds = {}});
    Add({.change = "set PYTORCH_CUDA_ALLOC_CONF", .setting = text}, answer, false);
  }

  void TrySettings() {
    const AllocatorSettings& now = snapshot_.settings;
    if (!now.expandable) {
      AllocatorSettings changed = now;
      changed.expandable = true;
      TrySetting("expandable_segments:True", changed);
    }
    for (uint64_t size = 32; size <= 512; size *= 2) {
      AllocatorSettings changed = now;
      changed.max_split = size * kMiB;
      if (changed.max_split != now.max_split) {
        TrySetting("max_split_size_mb:" + std::to_string(size), changed);
      }
    }
    if (!low_.limit.has_value()) return;  // it needs a limit
    for (const auto& [threshold, text] : {std::pair{0.6, "0.6"}, std::pair{0.8, "0.8"}}) {
      AllocatorSettings changed = now;
      changed.gc_threshold = threshold;
      if (now.gc_threshold != threshold) {
        TrySetting(std::string("garbage_collection_threshold:") + text, changed);
      }
    }
  }

  // A limit that serves the request, where one byte less does not, if the process's own limit
  // refused it. Mostly that is what was reserved and the segment that was refused; with
  // collections of garbage or retries before, which also depend on the limit, less may be enough.
  void TryLimit() {
    if (!low_.limit.has_value() || !HasTime()) return;
    const auto under = [&](uint64_t limit) {
      MemoryChange change{.settings = snapshot_.settings, .bounds = low_};
      change.bounds.limit = limit;
      return Replay(change);
    };
    uint64_t wanted = report_.state.reserved + report_.state.asked;
    ReplayedChange replayed = under(wanted);
    if (replayed.is_served && wanted > *low_.limit + 1 && under(wanted - 1).is_served) {
      uint64_t refused = *low_.limit;
      --wanted;
      while (wanted - refused > 1 && std::chrono::steady_clock::now() < end_) {
        const uint64_t middle = refused + (wanted - refused) / 2;
        (under(middle).is_served ? wanted : refused) = middle;
      }
      replayed = under(wanted);
    }
    MemoryFix fix{.change = "raise the limit", .setting = {}};
    fix.changed_bytes = wanted - std::min(wanted, *low_.limit);
    Add(std::move(fix), {replayed.is_served ? Fits::kYes : Fits::kNo, replayed.reserved_bytes},
        true);
    if (is_out_of_time_) return;
    found_.fixes.back().spare_bytes =
        replayed.is_served ? std::optional(wanted - std::min(wanted, replayed.reserved_bytes))
                           : std::nullopt;
    // By how much is known only where the limit is; this much is always enough.
    found_.fixes.back().is_certain = stream_.is_exact && report_.allowed->is_exact();
  }

  uint32_t FailedSite() const { return sites_.Of(stream_.failed.stack); }

  void TryEmptyCache() {
    const uint32_t site = FailedSite();
    if (sites_.Get(site).Text().empty() || !HasTime()) return;
    MemoryChange change{.settings = snapshot_.settings, .bounds = {}};
    change.empties_before = [&, site](const Request& request) {
      return sites_.Of(request.stack) == site;
    };
    Add({.change = "torch.cuda.empty_cache() before " + sites_.Get(site).Text(), .setting = {}},
        Try(std::move(change)), true);
  }

  // The largest percentage of the sizes for which the request is served; nothing if none is, or if
  // larger ones are served where smaller ones are not. `is_scaled`: whether a request is.
  template <class IsScaled>
  std::optional<std::pair<uint64_t, Answer>> LargestPercent(const IsScaled& is_scaled) {
    std::map<uint64_t, Answer> tried;
    const auto answer = [&](uint64_t percent) {
      if (const auto found = tried.find(percent); found != tried.end()) return found->second;
      MemoryChange change{.settings = snapshot_.settings, .bounds = {}};
      change.size_of = [&](const Request& request) {
        if (!is_scaled(request)) return request.size;
        return std::max<uint64_t>(request.size / 100 * percent + request.size % 100 * percent / 100,
                                  request.size > 0 ? 1 : 0);
      };
      return tried[percent] = Try(std::move(change));
    };
    const auto fits = [&](uint64_t percent, Fits wanted) {
      const Fits now = answer(percent).fits;
      return now == Fits::kYes || (wanted == Fits::kCannotTell && now == Fits::kCannotTell);
    };
    for (const Fits wanted : {Fits::kYes, Fits::kCannotTell}) {
      if (!fits(1, wanted)) continue;
      uint64_t low = 1;
      uint64_t high = 100;
      while (high - low > 1) {
        if (!HasTime()) return std::nullopt;
        const uint64_t middle = low + (high - low) / 2;
        (fits(middle, wanted) ? low : high) = middle;
      }
      // Smaller requests are not always easier to place.
      for (uint64_t part = 1; part <= 3; ++part) {
        if (!fits(std::max<uint64_t>(low * part / 4, 1), wanted)) return std::nullopt;
      }
      return std::pair(low, answer(low));
    }
    if (is_out_of_time_) ++found_.not_tried;
    return std::nullopt;
  }

  void TrySmallerRequest() {
    const uint32_t site = FailedSite();
    if (sites_.Get(site).Text().empty() || !HasTime()) return;
    const auto found =
        LargestPercent([&](const Request& request) { return sites_.Of(request.stack) == site; });
    if (!found.has_value()) return;
    MemoryFix fix{.change = "requests of " + sites_.Get(site).Text() + " at " +
                            Percent(found->first) + " of their size",
                  .setting = {}};
    const uint64_t size = stream_.failed.size;
    fix.changed_bytes = size - (size / 100 * found->first + size % 100 * found->first / 100);
    const auto live = std::find_if(sites_by_bytes_.begin(), sites_by_bytes_.end(),
                                   [&](const auto& row) { return row.second == site; });
    fix.is_of_model = live != sites_by_bytes_.end() && IsMostlyOfModel({site}, live->first);
    Add(std::move(fix), found->second, true);
  }

  // Of requests that are live at the failure, those that a smaller batch makes smaller.
  template <class Counts>
  uint64_t BatchBytes(const Counts& counts) const {
    std::vector<bool> is_freed(stream_.requests.size(), false);
    for (const RequestStream::Step& step : stream_.steps) {
      if (step.kind() == RequestStream::kRequestFree) is_freed[step.request()] = true;
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < is_freed.size(); ++i) {
      const Request& request = stream_.requests[i];
      if (request.scales_with_batch && !is_freed[i] && counts(request)) bytes += request.size;
    }
    return bytes;
  }

  // Nobody trains with less than a tenth of a batch.
  void TrySmallerBatch() {
    constexpr uint64_t kLeastPercent = 10;
    const uint64_t bytes = BatchBytes([](const Request& /*request*/) { return true; }) +
                           (stream_.failed.scales_with_batch ? stream_.failed.size : 0);
    if (bytes == 0 || !stream_.is_failed_known || !HasTime()) return;
    const auto found =
        LargestPercent([](const Request& request) { return request.scales_with_batch; });
    if (!found.has_value() || found->first < kLeastPercent) return;
    MemoryFix fix{.change = "a batch smaller by " + Percent(100 - found->first), .setting = {}};
    fix.changed_bytes = bytes / 100 * (100 - found->first);
    Add(std::move(fix), found->second, false);
  }

  // What each site holds at the failure, most first.
  void SumSites(const std::vector<LiveMemory>& live) {
    for (const LiveMemory& row : live) {
      if (sites_.Get(row.site).Text().empty()) continue;
      if (IsOfModel(row.category)) of_model_[row.site] += row.bytes;
      const auto known = std::find_if(sites_by_bytes_.begin(), sites_by_bytes_.end(),
                                      [&](const auto& site) { return site.second == row.site; });
      if (known == sites_by_bytes_.end()) {
        sites_by_bytes_.emplace_back(row.bytes, row.site);
      } else {
        known->first += row.bytes;
      }
    }
    std::stable_sort(sites_by_bytes_.begin(), sites_by_bytes_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
  }

  // The largest sites that are live at the failure, one at a time; two if none is enough.
  void TrySites() {
    const std::span<const std::pair<uint64_t, uint32_t>> sites =
        std::span(sites_by_bytes_).first(std::min(sites_by_bytes_.size(), kMostSites));
    bool fits = false;
    for (const auto& [bytes, site] : sites) {
      const bool is_tried = growing_.size() == 1 && growing_.front() == site;
      fits = is_tried || TryWithout({site}, bytes) || fits;
    }
    for (size_t a = 0; !fits && a < sites.size(); ++a) {
      for (size_t b = a + 1; b < sites.size(); ++b) {
        TryWithout({sites[a].second, sites[b].second}, sites[a].first + sites[b].first);
      }
    }
  }

  // All lines that grow at once, of which the verdict names the first.
  void TryWithoutGrowth() {
    if (growing_.empty()) return;
    uint64_t bytes = 0;
    for (const auto& [of_site, site] : sites_by_bytes_) {
      if (std::find(growing_.begin(), growing_.end(), site) != growing_.end()) bytes += of_site;
    }
    if (bytes == 0 || sites_.Get(growing_.front()).Text().empty()) return;
    TryWithout({growing_.begin(), growing_.end()}, bytes, true);
  }

  // Whether most of the `bytes` that these sites hold is the model's.
  bool IsMostlyOfModel(const std::vector<uint32_t>& of, uint64_t bytes) const {
    uint64_t of_model = 0;
    for (const uint32_t site : of) {
      const auto found = of_model_.find(site);
      of_model += found == of_model_.end() ? 0 : found->second;
    }
    return of_model > bytes / 2;
  }

  bool TryWithout(const std::vector<uint32_t>& without, uint64_t bytes, bool is_growth = false) {
    if (!HasTime()) return true;
    MemoryChange change{.settings = snapshot_.settings, .bounds = {}};
    std::vector<bool> is_out(sites_.size(), false);
    for (const uint32_t site : without) is_out[site] = true;
    change.size_of = [&](const Request& request) -> uint64_t {
      const bool is_left_out = is_out[sites_.Of(request.stack)] && &request != &stream_.failed;
      return is_left_out ? 0 : request.size;
    };
    const Answer answer = Try(std::move(change));
    // Pairs that do not help are too many to list.
    if (!is_growth && without.size() > 1 && answer.fits == Fits::kNo) return false;
    std::string names;
    for (const uint32_t site : without) {
      names += (names.empty() ? "" : " and ") + sites_.Get(site).Text();
    }
    if (is_growth && without.size() > 2) {
      names = sites_.Get(without.front()).Text() + " and " + std::to_string(without.size() - 1) +
              " other lines that grow";
    }
    MemoryFix fix{.change = "without " + names, .setting = {}};
    fix.changed_bytes = bytes;
    fix.is_of_model = IsMostlyOfModel(without, bytes);
    fix.is_of_growth = is_growth;
    Add(std::move(fix), answer, true);
    return answer.fits == Fits::kYes;
  }

  const MemorySnapshot& snapshot_;
  const OomReport& report_;
  const MemorySites& sites_;
  const RequestStream& stream_;
  std::span<const uint32_t> growing_;
  std::chrono::steady_clock::time_point end_;
  AllocatorBounds low_;
  AllocatorBounds high_;
  std::vector<std::pair<uint64_t, uint32_t>> sites_by_bytes_;  // live at the failure, most first
  std::map<uint32_t, uint64_t> of_model_;                      // of these, by site
  bool is_out_of_time_ = false;                                // in the middle of a replay
  MemoryFixes found_;
};

}  // namespace

MemoryFixes FindFixes(const MemorySnapshot& snapshot, const DeviceMemory& device,
                      const Replay& replay, const OomReport& report, const MemorySites& sites,
                      const MemoryCategories& categories, const std::vector<MemoryStep>& steps,
                      std::chrono::nanoseconds budget, std::span<const uint32_t> growing) {
  const RequestStream stream =
      RequestsUntil(device, replay, report.state, sites, categories, steps);
  const std::vector<LiveMemory> live =
      LiveAt(device, replay, sites, categories, report.state.event);
  return FixFinder(snapshot, report, sites, stream, growing, budget).Find(live);
}

}  // namespace borescope::internal::postmortem
