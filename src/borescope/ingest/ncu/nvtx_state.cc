#include "borescope/ingest/ncu/nvtx_state.h"

#include <algorithm>
#include <string>
#include <utility>

#include "borescope/ingest/ncu/message_fields.h"

namespace borescope::internal {
namespace {

// A label repeats the name of its domain: what a small file can ask for has to end somewhere.
constexpr size_t kMostRanges = 4096;
constexpr size_t kLongestDomain = 1024;

}  // namespace

bool NvtxState::Read(std::string_view message) {
  MessageFields fields(message);
  while (fields.Next()) {
    const std::string_view bytes = fields.Bytes().value_or(std::string_view());
    if (fields.number() == 1) {
      ReadDomain(bytes);
    } else if (fields.number() == 2) {
      ReadThread(bytes);
    }
  }
  return !is_damaged_ && !fields.is_damaged();
}

void NvtxState::ReadDomain(std::string_view message) {
  uint64_t id = 0;
  std::string_view name;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) {
      id = fields.Integer().value_or(0);
    } else if (fields.number() == 2) {
      name = fields.Bytes().value_or(name);
    }
  }
  is_damaged_ |= fields.is_damaged();
  domains_[id] = name;
}

void NvtxState::ReadRange(std::string_view message, ThreadRanges::Range& range) {
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) {
      range.text = fields.Bytes().value_or(range.text);
    } else if (fields.number() == 3) {
      range.number = fields.Integer().value_or(0);
    }
  }
  is_damaged_ |= fields.is_damaged();
}

void NvtxState::ReadStack(std::string_view message, ThreadRanges& thread) {
  const size_t first = thread.ranges.size();
  uint64_t domain = 0;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) {
      domain = fields.Integer().value_or(0);
    } else if (fields.number() == 3 && fields.Bytes().has_value()) {
      ReadRange(*fields.Bytes(), thread.ranges.emplace_back());
    }
  }
  is_damaged_ |= fields.is_damaged();
  for (size_t i = first; i < thread.ranges.size(); ++i) {
    thread.ranges[i].domain = domain;
  }
}

void NvtxState::ReadThread(std::string_view message) {
  ThreadRanges thread;
  MessageFields fields(message);
  while (fields.Next()) {
    if (fields.number() == 2 && fields.Bytes().has_value()) {
      ReadStack(*fields.Bytes(), thread);
    }
  }
  is_damaged_ |= fields.is_damaged();
  if (!thread.ranges.empty()) {
    threads_.push_back(std::move(thread));
  }
}

// Each domain has a stack of its own; the numbers of ranges say how those nest.
bool NvtxState::LabelKernel(CountedKernel& kernel) const {
  if (threads_.size() > 1) {
    return false;
  }
  std::vector<ThreadRanges::Range> ranges;
  if (!threads_.empty()) {
    ranges = threads_.front().ranges;
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  ranges.resize(std::min(ranges.size(), kMostRanges));
  for (const ThreadRanges::Range& range : ranges) {
    const auto domain = domains_.find(range.domain);
    std::string label;
    if (range.domain != 0 && domain != domains_.end() && !domain->second.empty() &&
        domain->second.size() <= kLongestDomain) {
      label.append(domain->second).append(":");
    }
    kernel.ranges.push_back(label.append(range.text));
    kernel.range_numbers.push_back(range.number);
  }
  return true;
}

}  // namespace borescope::internal
