// The ranges of NVTX_EVENTS.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/cupti/cupti_trace.h"
#include "borescope/ingest/cupti/nvtx_text.h"

namespace borescope::internal {

class NsysRanges {
 public:
  NsysRanges(TextTable& strings, CuptiTrace& trace) : strings_(strings), trace_(trace) {}

  // Adds all rows of the table.
  Result<void> Read(const DatabaseInput& input);

 private:
  struct DomainKey {
    int64_t process;
    int64_t domain;
    bool operator==(const DomainKey&) const = default;
    std::array<int64_t, 2> Numbers() const { return {process, domain}; }
  };

  void Add(TableRows& row);
  void AddRange(TableRows& row, std::string_view text, bool is_async);
  void AddXla(ActivityTime time, const XlaText& xla, TrackId track);
  std::string_view TextOf(TableRows& row);
  void NameDomains();

  TextTable& strings_;
  CuptiTrace& trace_;
  HashMap<DomainKey, StringId> domains_;
  std::vector<std::pair<uint32_t, DomainKey>> in_domain_;  // host rows of domains with a name
};

}  // namespace borescope::internal
