#include "tests/support/captured_run.h"

#include <fmt/format.h>

#include <vector>

#include "tests/support/model/scenario_random.h"

namespace borescope::scenario {
namespace {

constexpr int kSteps = 3;

// What one kernel is requested by.
struct Call {
  std::string op;
  std::string dims;
  std::string kernel;
};

struct Graph {
  std::vector<Call> calls;
  std::vector<std::string> modules;  // one capture each
};

// The events of a file, on one thread and one stream.
class EventList {
 public:
  void Host(std::string_view category, std::string_view name, int64_t begin, int64_t end,
            std::string_view args) {
    Add(category, name, "1", begin, end, args);
  }
  void Kernel(std::string_view name, int64_t begin, int64_t end, int64_t correlation) {
    Add("kernel", name, "0", begin, end,
        fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation));
  }
  std::string Json() const {
    return fmt::format(
        R"({{"schemaVersion": 1, "distributedInfo": {{"rank": 0, "world_size": 1}}, )"
        R"("traceEvents": [{}]}})",
        text_);
  }

 private:
  void Add(std::string_view category, std::string_view name, std::string_view thread, int64_t begin,
           int64_t end, std::string_view args) {
    text_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
        R"("args": {{{}}}}})",
        text_.empty() ? "" : ",\n", category, name, thread, thread == "0" ? 7 : 1, begin,
        end - begin, args);
  }

  std::string text_;
};

class Maker {
 public:
  Maker(uint64_t seed, CaptureChange change) : random_(seed), change_(change) {}

  CapturedRun Make();

 private:
  void PlanGraphs();
  Call NewCall(std::string_view unlike);
  void Execute();
  void LaunchGraph(size_t graph, size_t capture);
  void Row(int64_t correlation, size_t position, std::string_view match, const Call* call,
           std::string_view dims, std::string_view module);
  void TruthOf(size_t graph, size_t position, int64_t correlation, std::string_view module);
  void Capture();
  void CaptureGraph(const std::vector<Call>& calls, std::string_view module);
  void Request(const Call& call, bool is_captured);
  std::vector<Call> ChangedCalls(size_t graph) const;
  bool IsChanged(size_t graph) const { return graph + 1 == graphs_.size(); }

  Random random_;
  CaptureChange change_;
  std::vector<Graph> graphs_;
  size_t changed_at_ = 0;  // position in the last graph
  Call inserted_;
  EventList execution_;
  EventList captures_;
  int64_t now_ = 1000;
  int64_t correlation_ = 1;
  std::string rows_;
};

// The name of the kernel follows from operator and shapes, and differs from the one before it.
Call Maker::NewCall(std::string_view unlike) {
  constexpr const char* kOps[] = {"aten::mm", "aten::add", "aten::mul", "vllm::moe", "aten::silu"};
  Call call;
  do {
    call.op = kOps[random_.Below(5)];
    const int64_t size = 16 << random_.Below(4);
    call.dims = fmt::format("[[{0}, {0}], [{0}, {0}]]", size);
    call.kernel = fmt::format("{}_{}", call.op.substr(call.op.find("::") + 2), size);
  } while (call.kernel == unlike);
  return call;
}

void Maker::PlanGraphs() {
  graphs_.resize(static_cast<size_t>(3 + random_.Below(4)));
  for (size_t i = 0; i < graphs_.size(); ++i) {
    // Lengths are far enough apart that no graph is nearly another.
    const size_t length = 6 + 5 * i + static_cast<size_t>(random_.Below(2));
    for (size_t k = 0; k < length; ++k) {
      graphs_[i].calls.push_back(NewCall(k == 0 ? "" : graphs_[i].calls.back().kernel));
    }
    const int64_t captures = IsChanged(i) ? 1 : 1 + random_.Below(3);
    for (int64_t k = 0; k < captures; ++k) {
      graphs_[i].modules.push_back(fmt::format("Block_{}", 10 * i + static_cast<size_t>(k)));
    }
  }
  const size_t length = graphs_.back().calls.size();
  changed_at_ = 1 + static_cast<size_t>(random_.Below(static_cast<int64_t>(length) - 2));
  inserted_ = {"aten::fill_", "[[1]]", "fill"};
}

void Maker::Row(int64_t correlation, size_t position, std::string_view match, const Call* call,
                std::string_view dims, std::string_view module) {
  const auto text = [](std::string_view value) {
    return value.empty() ? std::string("null") : fmt::format("\"{}\"", value);
  };
  rows_ +=
      fmt::format("{}[{}, {}, \"{}\", {}, {}, {}]", rows_.empty() ? "" : ",\n", correlation,
                  position, match, text(call == nullptr ? "" : call->op), text(dims), text(module));
}

void Maker::TruthOf(size_t graph, size_t position, int64_t correlation, std::string_view module) {
  const Call& call = graphs_[graph].calls[position];
  const bool is_changed = IsChanged(graph);
  const bool is_edited =
      is_changed && (change_ == CaptureChange::kMissing || change_ == CaptureChange::kInserted);
  const bool has_none =
      change_ == CaptureChange::kOther || (is_changed && change_ == CaptureChange::kOperators);
  const bool is_gone = is_changed && change_ == CaptureChange::kMissing && position == changed_at_;
  const std::string_view match = has_none ? "none" : is_edited ? "aligned" : "exact";
  if (has_none || is_gone) {
    Row(correlation, position, match, nullptr, "", "");
  } else {
    const bool has_dims = !is_changed || change_ != CaptureChange::kShapes;
    Row(correlation, position, match, &call, has_dims ? call.dims : "", module);
  }
}

void Maker::LaunchGraph(size_t graph, size_t capture) {
  const int64_t correlation = correlation_++;
  execution_.Host("cuda_runtime", "hipGraphLaunch", now_, now_ + 5,
                  fmt::format(R"("correlation": {})", correlation));
  now_ += 20;
  for (size_t k = 0; k < graphs_[graph].calls.size(); ++k) {
    const int64_t end = now_ + 1 + random_.Below(50);
    execution_.Kernel(graphs_[graph].calls[k].kernel, now_, end, correlation);
    TruthOf(graph, k, correlation, graphs_[graph].modules[capture]);
    now_ = end + random_.Below(3);
  }
  now_ += 10;
}

void Maker::Execute() {
  for (int step = 0; step < kSteps; ++step) {
    const int64_t begin = now_;
    now_ += 5;
    for (size_t graph = 0; graph < graphs_.size(); ++graph) {
      for (size_t capture = 0; capture < graphs_[graph].modules.size(); ++capture) {
        LaunchGraph(graph, capture);
      }
    }
    execution_.Host("user_annotation", fmt::format("ProfilerStep#{}", step), begin, now_, "");
    now_ += 10;
  }
}

// A launch inside an operator: it names its kernel, which it starts unless a capture goes on.
void Maker::Request(const Call& call, bool is_captured) {
  const int64_t correlation = correlation_++;
  captures_.Host("cpu_op", call.op, now_, now_ + 10,
                 fmt::format(R"("External id": {}, "Input Dims": {}, )"
                             R"("Input type": ["float", "float"])",
                             correlation, call.dims));
  const bool is_named = change_ != CaptureChange::kUnnamed;
  captures_.Host("cuda_runtime", "hipLaunchKernel", now_ + 2, now_ + 4,
                 is_named
                     ? fmt::format(R"("correlation": {}, "kernel": "{}")", correlation, call.kernel)
                     : fmt::format(R"("correlation": {})", correlation));
  if (!is_captured) captures_.Kernel(call.kernel, now_ + 6, now_ + 9, correlation);
  now_ += 12;
}

void Maker::CaptureGraph(const std::vector<Call>& calls, std::string_view module) {
  const int64_t begin = now_;
  captures_.Host("cuda_runtime", "hipStreamBeginCapture", now_ + 2, now_ + 3, "");
  const int64_t inside = now_ + 4;
  now_ += 6;
  for (const Call& call : calls) {
    Request(call, true);
  }
  captures_.Host("python_function", fmt::format("nn.Module: {}", module), inside, now_, "");
  captures_.Host("cuda_runtime", "hipStreamEndCapture", now_ + 1, now_ + 2, "");
  captures_.Host("cuda_runtime", "hipGraphInstantiateWithFlags", now_ + 3, now_ + 5, "");
  now_ += 6;
  captures_.Host("python_function", "capture.py(1): capture", begin, now_, "");
  now_ += 10;
}

std::vector<Call> Maker::ChangedCalls(size_t graph) const {
  std::vector<Call> calls = graphs_[graph].calls;
  const auto at = static_cast<std::ptrdiff_t>(changed_at_);
  if (change_ == CaptureChange::kOther) {
    for (Call& call : calls) call.kernel = "other_" + call.kernel;
  } else if (IsChanged(graph) && change_ == CaptureChange::kMissing) {
    calls.erase(calls.begin() + at);
  } else if (IsChanged(graph) && change_ == CaptureChange::kInserted) {
    calls.insert(calls.begin() + at, inserted_);
  }
  return calls;
}

void Maker::Capture() {
  now_ = 1000;
  if (change_ == CaptureChange::kUnnamed) {
    for (const Graph& graph : graphs_) {
      for (const Call& call : graph.calls) Request(call, false);
    }
  }
  for (size_t i = 0; i < graphs_.size(); ++i) {
    for (const std::string& module : graphs_[i].modules) {
      CaptureGraph(ChangedCalls(i), module);
    }
  }
  std::vector<Call> second = graphs_.back().calls;
  for (Call& call : second) {
    if (change_ == CaptureChange::kShapes) call.dims = "[[3, 3], [3, 3]]";
    if (change_ == CaptureChange::kOperators) call.op = "aten::other";
  }
  if (change_ == CaptureChange::kShapes || change_ == CaptureChange::kOperators) {
    CaptureGraph(second, graphs_.back().modules.front());
  }
}

CapturedRun Maker::Make() {
  PlanGraphs();
  Execute();
  Capture();
  constexpr std::string_view kColumns =
      R"("columns": ["correlation", "position", "match", "op", "dims", "module"])";
  return {execution_.Json(), captures_.Json(),
          fmt::format("{{{}, \"rows\": [\n{}\n]}}\n", kColumns, rows_)};
}

}  // namespace

std::string_view CaptureChangeName(CaptureChange change) {
  constexpr std::string_view kNames[] = {"none",   "missing",   "inserted", "other",
                                         "shapes", "operators", "unnamed"};
  return kNames[static_cast<size_t>(change)];
}

CapturedRun MakeCapturedRun(uint64_t seed, CaptureChange change) {
  return Maker(seed, change).Make();
}

}  // namespace borescope::scenario
