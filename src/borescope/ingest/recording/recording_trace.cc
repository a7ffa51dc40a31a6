#include "borescope/ingest/recording/recording_trace.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/base/text/text.h"
#include "borescope/ingest/cupti/cupti_names.h"
#include "borescope/ingest/time_limit.h"
#include "borescope/json/json_cursor.h"

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

namespace {

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAten = "aten::";

// Whether the engine's call is around the node of this name.
bool IsCallOf(std::string_view around, std::string_view name) {
  return around.starts_with(kEvaluate) && around.substr(kEvaluate.size()) == name;
}

// Old versions of PyTorch write nodes alone.
bool IsNode(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string_view::npos && name.substr(0, end + 1).ends_with("Backward");
}

}  // namespace

bool TorchOperators::IsOperator(const OperatorText& op, std::string_view around) {
  const bool is_within_namesake =
      around.starts_with(kAten) && around.substr(kAten.size()) == op.name;  // "detach"
  return op.sequence != kMissing || !op.sizes.empty() || op.name.find("::") < op.name.size() ||
         is_within_namesake || op.name == "record_param_comms";
}

void TorchOperators::Add(const OperatorText& op, uint32_t detail, int64_t ts_ns, uint32_t tid,
                         const Around& around) {
  if (op.sequence == kMissing) {
    return;
  }
  const bool is_called = around.detail != kNoDetail && IsCallOf(around.name, op.name);
  operators_.push_back({op.sequence, ts_ns, tid, detail, is_called || IsNode(op.name)});
  if (is_called) {
    trace_.data().ops.sequence[around.detail] = op.sequence;
    operators_.push_back({op.sequence, ts_ns, tid, around.detail, true});
  }
}

void TorchOperators::Finish() {
  std::sort(operators_.begin(), operators_.end(), [](const Numbered& a, const Numbered& b) {
    return std::tie(a.sequence, a.ts_ns, a.detail) < std::tie(b.sequence, b.ts_ns, b.detail);
  });
  const Numbered* forward = nullptr;
  for (const Numbered& op : operators_) {
    if (!op.is_backward) {
      forward = &op;
    } else if (forward != nullptr && forward->sequence == op.sequence) {
      trace_.data().ops.forward_thread[op.detail] = forward->tid;
    }
  }
  operators_.clear();
}

namespace {

struct InputMember {
  std::string_view key;
  ColumnData<StringId> Ops::* column;
};
constexpr InputMember kInputMembers[] = {
    {"Input Dims", &Ops::input_dims},
    {"Input type", &Ops::input_types},
    {"Input Strides", &Ops::input_strides},
    {"Concrete Inputs", &Ops::concrete_inputs},
};

}  // namespace

void AddOperatorInputs(RecordingTrace& trace, std::string_view json, uint32_t row) {
  if (json.empty()) {
    return;
  }
  JsonCursor cursor(json);
  std::string_view key;
  bool is_good = cursor.EnterObject();
  while (is_good && cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    const auto* const member =
        std::find_if(std::begin(kInputMembers), std::end(kInputMembers),
                     [key](const InputMember& known) { return known.key == key; });
    if (member != std::end(kInputMembers) && value.starts_with('[')) {
      (trace.data().ops.*member->column)[row] = trace.Intern(value);
    }
  }
  is_good &= !cursor.failed();
  if (!is_good) {
    trace.diagnostics().Count(Diag::kBadFieldType, Diagnostics::kNoByte,
                              "the inputs of an operator");
  }
}

}  // namespace borescope::internal
