#include "borescope/ingest/recording/recording_trace.h"

#include <algorithm>
#include <string>

#include "borescope/base/text/utf8.h"
#include "borescope/ingest/cupti/cupti_callbacks.h"
#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/time_limit.h"

namespace borescope::internal {
namespace {

using recording::ApiDomain;

std::string_view ApiWord(ApiDomain domain) {
  switch (domain) {
    case ApiDomain::kRuntime:
    case ApiDomain::kDriver:
      return "cuda";
    case ApiDomain::kHip:
      return "hip";
    case ApiDomain::kHsa:
      return "hsa";
    case ApiDomain::kRccl:
      return "rccl";
  }
  return "api";
}

// As it is known, or, of an API without a table of names, by its number: "hipApi_7".
std::string NameOfCallback(ApiDomain domain, uint32_t callback) {
  if (domain == ApiDomain::kRuntime) {
    return ApiName(RuntimeApiName(callback));
  }
  if (domain == ApiDomain::kDriver) {
    return ApiName(DriverApiName(callback));
  }
  return std::string(ApiWord(domain)) + "Api_" + std::to_string(callback);
}

}  // namespace

StringId RecordingTrace::Intern(std::string_view text) {
  const StringId known = part_.data.strings.Find(text);
  if (known.valid()) {
    return known;
  }
  if (IsValidUtf8(text)) {
    return part_.Intern(text);
  }
  diagnostics().Count(Diag::kInvalidUtf8);
  return part_.Intern(ToValidUtf8(text));
}

int64_t RecordingTrace::Time(uint64_t ns) {
  if (ns > static_cast<uint64_t>(kTimeLimitNs)) {
    diagnostics().Count(Diag::kIntegerOverflow, Diagnostics::kNoByte, "a time");
    return kTimeLimitNs;
  }
  return static_cast<int64_t>(ns);
}

bool RecordingTrace::Span(StringId category, uint64_t start, uint64_t end, RecordTime& time) {
  time = {Time(start), 0};
  if (start == 0) {
    diagnostics().Count(Diag::kMissingTimestamp, Diagnostics::kNoByte,
                        part_.data.strings.Get(category));
  } else if (end == 0) {
    diagnostics().Count(Diag::kMissingDuration, Diagnostics::kNoByte,
                        part_.data.strings.Get(category));
  } else if (end < start) {
    diagnostics().Count(Diag::kNegativeDuration, Diagnostics::kNoByte,
                        part_.data.strings.Get(category));
  } else {
    time.dur_ns = Time(end) - time.ts_ns;
  }
  part_.CountEvent('X', category, time.dur_ns);
  return start != 0;
}

namespace {

uint64_t KeyOfCall(ApiDomain domain, uint32_t callback) {
  return static_cast<uint64_t>(domain) << 32U | callback;
}

}  // namespace

void RecordingTrace::NameCall(ApiDomain domain, uint32_t callback, StringId name) {
  call_names_[KeyOfCall(domain, callback)] = name;
}

StringId RecordingTrace::CallName(ApiDomain domain, uint32_t callback) {
  const uint64_t key = KeyOfCall(domain, callback);
  const auto [place, is_new] = call_names_.try_emplace(key, StringId{0});
  if (is_new) {
    place->second = part_.Intern(NameOfCallback(domain, callback));
  }
  return place->second;
}

StringId RecordingTrace::DomainName(ApiDomain domain) { return part_.Intern(ApiWord(domain)); }

StringId RecordingTrace::KernelName(StringId mangled) {
  const auto [place, is_new] = kernel_names_.try_emplace(mangled.value, StringId{0});
  if (is_new) {
    place->second = part_.Intern(demangle_(part_.data.strings.Get(mangled)));
  }
  return place->second;
}

void RecordingTrace::AddDomainOf(StringId range, StringId domain) {
  if (names_in_domains_.try_emplace(range.value, 1).second) {
    part_.data.range_domains.name.push_back(range);
    part_.data.range_domains.domain.push_back(domain);
  }
}

}  // namespace borescope::internal
