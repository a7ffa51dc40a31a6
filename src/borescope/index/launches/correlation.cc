#include "borescope/index/launches/correlation.h"

#include <algorithm>
#include <utility>

#include "borescope/base/parallel.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/index/id_map.h"
#include "borescope/index/launches/contested_launches.h"
#include "borescope/index/open_spans.h"

namespace borescope::internal {
namespace {

std::vector<char> LaunchNames(const Trace& trace) {
  std::vector<char> is_launch(trace.strings().size(), 0);
  const HostEvents& host = trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kRuntime) {
      is_launch[host.name[row].value] = 2;  // to be checked
    }
  }
  for (uint32_t name = 0; name < is_launch.size(); ++name) {
    if (is_launch[name] == 2) {
      is_launch[name] = IsLaunchName(trace.Text({name})) ? 1 : 0;
    }
  }
  return is_launch;
}

// Whether "External id" names operators: in old files it repeats the correlation everywhere.
bool ExternalIdsNameOps(const DeviceEvents& device) {
  for (size_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (IsDeviceWork(device.kind[row]) && device.external_id[row] != kMissing &&
        device.external_id[row] != device.correlation[row]) {
      return true;
    }
  }
  return false;
}

bool IsExternalId(int64_t id) { return id != kMissing && id != 0; }

// The operators of those ids that `wanted` has, by id; other ids of it have none.
void MapOperators(const Trace& trace, IdMap64& wanted) {
  const HostEvents& host = trace.host();
  const Ops& ops = trace.ops();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] == HostKind::kOp && host.detail[row] != kNoDetail) {
      const int64_t id = ops.external_id[host.detail[row]];
      if (IsExternalId(id) && wanted.Get(id) != IdMap64::kNone) {
        wanted[id] = row;
      }
    }
  }
}

void LinkRows(const Trace& trace, const CallLinks& calls, size_t begin, size_t end,
              Correlation& result) {
  const DeviceEvents& device = trace.device();
  for (size_t row = begin; row < end; ++row) {
    CheckStopAt(row);
    const int64_t number = device.correlation[row];
    const uint32_t launch = IsCorrelation(number) ? calls.launches.Get(number) : IdMap64::kNone;
    if (launch == IdMap64::kNone) {
      continue;
    }
    result.launch_of[row] = {launch};
    result.op_of[row] = calls.operators[trace.host().detail[launch]];
    result.rule[row] = result.op_of[row].valid() ? LinkRule::kLaunchNesting : LinkRule::kLaunchOnly;
  }
}

// Kernels of graphs, by the captures of these. Whatever is around the launch of the graph launched
// all of its kernels, and is the operator of none that a capture explains.
void LinkCaptured(const Trace& trace, Correlation& result) {
  const HostEvents& host = trace.host();
  const CapturedCalls& captured = trace.captured();
  for (uint32_t row = 0; row < captured.call_of.size(); ++row) {
    CheckStopAt(row);
    HostId op = captured.call_of[row];
    while (op.valid() && host.kind[op.value] != HostKind::kOp) {
      op = captured.parent[op.value - host.size()];
    }
    if (captured.call_of[row].valid()) {
      result.op_of[row] = op;
      result.rule[row] = op.valid() ? LinkRule::kCapture : LinkRule::kLaunchOnly;
    }
  }
  result.captured_call_of = captured.call_of;
}

// The rows that no launch has linked to an operator, but an id may.
ColumnData<uint32_t> RowsForExternalIds(const DeviceEvents& device, const Correlation& result) {
  ColumnData<uint32_t> rows;
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    // The ids of contested work follow its number, and are as doubtful.
    if (!result.op_of[row].valid() && IsExternalId(device.external_id[row]) &&
        result.rule[row] != LinkRule::kAmbiguous) {
      rows.push_back(row);
    }
  }
  return rows;
}

void LinkExternalIds(const Trace& trace, Correlation& result) {
  const DeviceEvents& device = trace.device();
  const ColumnData<uint32_t> rows = RowsForExternalIds(device, result);
  if (rows.empty() || !ExternalIdsNameOps(device)) {
    return;
  }
  constexpr uint32_t kWanted = kMostNumbers;  // rows have smaller numbers
  IdMap64 operators(rows.size());
  for (const uint32_t row : rows) {
    operators[device.external_id[row]] = kWanted;
  }
  MapOperators(trace, operators);
  for (const uint32_t row : rows) {
    const uint32_t op = operators.Get(device.external_id[row]);
    if (op != kWanted) {
      result.op_of[row] = {op};
      result.rule[row] = LinkRule::kExternalId;
    }
  }
}

}  // namespace

std::string_view LinkRuleName(LinkRule rule) {
  constexpr std::string_view kNames[] = {"launch nesting", "external id", "launch only",
                                         "capture",        "none",        "ambiguous"};
  return kNames[static_cast<size_t>(rule)];
}

bool IsLaunchName(std::string_view name) {
  for (const std::string_view part :
       {"Launch", "Memcpy", "Memset", "runFunction", "AppendMemory", "EnqueueKernel"}) {
    if (name.find(part) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

void MapLaunches(const Trace& trace, CallLinks& links, Diagnostics& diagnostics) {
  const HostEvents& host = trace.host();
  const RuntimeCalls& calls = trace.runtime_calls();
  const std::vector<char> is_launch = LaunchNames(trace);
  links.launches = IdMap64(calls.correlation, IsCorrelation);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (host.kind[row] != HostKind::kRuntime || host.detail[row] == kNoDetail) {
      continue;
    }
    const int64_t number = calls.correlation[host.detail[row]];
    if (!IsCorrelation(number)) {
      continue;
    }
    uint32_t& known = links.launches[number];
    if (known == IdMap64::kNone) {
      known = row;
      continue;
    }
    diagnostics.Count(Diag::kDuplicateCorrelation, Diagnostics::kNoByte, trace.Name(HostId{row}));
    // Rows of a thread are sorted outer first, so a later launch is the inner one.
    const bool is_better = is_launch[host.name[row].value] >= is_launch[host.name[known].value];
    links.repeats.push_back({is_better ? std::exchange(known, row) : row});
  }
}

ColumnData<HostId> OperatorsAroundCalls(const Trace& trace, const OperatorRule& rule) {
  const HostEvents& host = trace.host();
  ColumnData<HostId> operators(trace.runtime_calls().size());
  OpenSpans open(host);
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (rule.IsOperator(trace, HostId{row})) {
      open.Open(HostId{row});
    } else if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail) {
      operators[host.detail[row]] = open.Around(HostId{row});
    }
  }
  return operators;
}

Correlation LinkLaunches(const Trace& trace, const CallLinks& calls, int threads) {
  constexpr size_t kRowsAtOnce = size_t{1} << 15;
  const size_t rows = trace.device().size();
  Correlation result;
  result.launch_of.resize(rows);
  result.op_of.resize(rows);
  result.rule.assign(rows, LinkRule::kNone);
  ParallelFor((rows + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](size_t piece) {
    const size_t begin = piece * kRowsAtOnce;
    LinkRows(trace, calls, begin, std::min(begin + kRowsAtOnce, rows), result);
  });
  return result;
}

void LinkOperators(const Trace& trace, Correlation& result) {
  LinkCaptured(trace, result);
  LinkExternalIds(trace, result);
}

void CollectDevices(const Trace& trace, Correlation& result) {
  const HostEvents& host = trace.host();
  result.device_begin.assign(trace.runtime_calls().size() + 1, 0);
  for (const HostId launch : result.launch_of) {
    if (launch.valid()) {
      ++result.device_begin[host.detail[launch.value] + 1];
    }
  }
  for (size_t i = 1; i < result.device_begin.size(); ++i) {
    result.device_begin[i] += result.device_begin[i - 1];
  }
  result.device_rows.resize(result.device_begin.back());
  ColumnData<uint32_t> next(result.device_begin.begin(), result.device_begin.end() - 1);
  for (uint32_t row = 0; row < result.launch_of.size(); ++row) {
    CheckStopAt(row);
    if (result.launch_of[row].valid()) {
      result.device_rows[next[host.detail[result.launch_of[row].value]]++] = {row};
    }
  }
}

void CountLinkFaults(const Trace& trace, const OperatorRule& rule, const Correlation& result,
                     Diagnostics& diagnostics) {
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    const HostId launch = result.launch_of[row];
    const std::string_view name = trace.Name(DeviceId{row});
    if (result.rule[row] == LinkRule::kAmbiguous) {
      diagnostics.Count(Diag::kAmbiguousLaunch, Diagnostics::kNoByte, name);
    } else if (!launch.valid()) {
      diagnostics.Count(Diag::kUnlinkedDeviceEvent, Diagnostics::kNoByte, name);
    } else if (device.ts_ns[row] < trace.host().ts_ns[launch.value]) {
      diagnostics.Count(Diag::kDeviceBeforeLaunch, Diagnostics::kNoByte, name);
    }
    if (result.rule[row] == LinkRule::kLaunchOnly && !rule.has_none()) {
      diagnostics.Count(Diag::kUnlinkedOp, Diagnostics::kNoByte, name);
    }
  }
}

Correlation BuildCorrelation(const Trace& trace, const OperatorRule& rule,
                             Diagnostics& diagnostics) {
  CallLinks calls;
  MapLaunches(trace, calls, diagnostics);
  calls.operators = OperatorsAroundCalls(trace, rule);
  Correlation result = LinkLaunches(trace, calls, 1);
  SettleContestedLaunches(trace, calls, result, diagnostics);
  LinkOperators(trace, result);
  CollectDevices(trace, result);
  CountLinkFaults(trace, rule, result, diagnostics);
  return result;
}

}  // namespace borescope::internal
