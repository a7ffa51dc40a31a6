#include "tests/oracle/random_events.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::internal::testkit {
namespace {

constexpr std::string_view kCategories[] = {"cpu_op",
                                            "cpu_op",
                                            "user_annotation",
                                            "python_function",
                                            "cuda_runtime",
                                            "kernel",
                                            "kernel",
                                            "gpu_memcpy",
                                            "gpu_memset",
                                            "cuda_sync",
                                            "Kernel",
                                            "xpu_runtime",
                                            "overhead",
                                            "gpu_user_annotation",
                                            "Trace",
                                            "Operator",
                                            "mtia_ccp_events",
                                            "unheard_of",
                                            "collective_comm",
                                            "",
                                            "cuda_profiler_range",
                                            "cuda_profiler_range"};

constexpr std::string_view kNames[] = {
    "aten::mm",
    "aten::linear",
    "cudaLaunchKernel",
    "hipLaunchKernel",
    "ProfilerStep#7",
    "void at::native::vectorized_elementwise_kernel<4, at::native::add<float> >(int, char*)",
    "[memory]",
    "metrics: gemm",
    "nn.Module: Linear_0",
    "thread_name",
    "ncclKernel_AllReduce",
    ""};

// Pieces of strings; what looks like structure is dangerous only to a parser that guesses.
constexpr std::string_view kPieces[] = {"a",
                                        "b c",
                                        "::",
                                        R"(\")",
                                        R"(\\)",
                                        R"(\/)",
                                        R"(\n\t\r\b\f)",
                                        R"(\u0041)",
                                        R"(\u00e9)",
                                        R"(\u0022)",
                                        R"(\u005c)",
                                        R"(\ud83d\ude00)",
                                        R"(\ud83d)",
                                        R"(\udc00)",
                                        "\u00e9",
                                        "\u20ac",
                                        "\U0001f600",
                                        "},{",
                                        R"(},{\"ph\":\"X\",\"name\":\"no event\")",
                                        "]}",
                                        ": [",
                                        ",",
                                        R"(\",\"ts\":1)",
                                        R"(\": \")",
                                        "{",
                                        "[",
                                        R"(\\\")",
                                        "0",
                                        " "};

// The parts of a text between bars.
std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t bar = text.find('|'); bar != std::string_view::npos; bar = text.find('|')) {
    parts.push_back(text.substr(0, bar));
    text.remove_prefix(bar + 1);
  }
  parts.push_back(text);
  return parts;
}

const std::vector<std::string_view> kArgsKeys = Split(
    "External id|correlation|stream|Sequence number|Fwd thread id|Record function id|Input Dims|"
    "Input type|grid|block|registers per thread|shared memory|est. achieved occupancy %|"
    "graph node id|bytes|wait_on_stream|wait_on_cuda_event_record_corr_id|Collective name|"
    "In msg nelems|Group size|dtype|Process Group Ranks|Seq|Device Type|Device Id|Addr|Bytes|"
    "Total Allocated|Total Reserved|name|Ev Idx|finished|Concrete Inputs|device|cbid|"
    "dram__bytes_read.sum|smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");

constexpr std::string_view kOddKeys[] = {
    "",
    "x",
    "tdur",
    "Ph",
    "ph ",
    "argsy",
    "correlatio",
    "correlations",
    R"(\u0070h)",
    R"(t\u0073)",
    R"(arg\u0073)",
    R"(a\"b)",
    R"(\\)",
    "name:",
    R"(\/)",
    "args",
    "wait_on_cuda_event_record_corr_ie",
    "a key that is longer than any key of a Kineto event could ever be"};

class EventsWriter {
 public:
  EventsWriter(Random& random, const EventsOptions& options) : random_(random), options_(options) {}

  std::string Write(size_t count) {
    Space();
    for (size_t i = 0; i < count; ++i) {
      if (i != 0) {
        Space();
        text_ += ',';
        NewLine(1);
      }
      Event();
    }
    Space();
    return std::move(text_);
  }

 private:
  // --- white space ---

  void Space() {
    if (options_.layout != Layout::kMixed) {
      return;
    }
    static constexpr std::string_view kSpaces[] = {"", "", "", " ", "\n", "\r\n", "\t", "   \n  "};
    text_ += random_.Pick(kSpaces);
  }

  void NewLine(size_t depth) {
    if (options_.layout == Layout::kPretty) {
      text_ += '\n' + std::string(depth * 2, ' ');
    } else {
      Space();
    }
  }

  // --- tokens ---

  void String(std::string_view content) {
    text_ += '"';
    text_ += content;
    text_ += '"';
  }

  std::string RandomText() {
    std::string text;
    for (uint64_t pieces = random_.Below(5); pieces > 0; --pieces) {
      text += random_.Pick(kPieces);
    }
    return text;
  }

  std::string RandomInteger() {
    switch (random_.Below(5)) {
      case 0:
        return "-" + std::to_string(random_.Below(1000));
      case 1:
        return std::to_string(random_.Below(10));
      case 2:
        return std::to_string(random_.Below(~uint64_t{0}));
      case 3:
        return std::to_string(random_.Below(1'000'000'000)) +
               std::to_string(random_.Below(1ULL << 60));
      default:
        return std::to_string(random_.Below(2000));
    }
  }

  std::string RandomNumber() {
    std::string number = RandomInteger();
    if (random_.Chance(0.4)) {
      number += "." + std::to_string(random_.Below(random_.Chance(0.2) ? 1'000'000 : 1000));
    }
    if (options_.is_odd && random_.Chance(0.05)) {
      number += random_.Chance(0.5) ? "e" : "E-";
      number += std::to_string(random_.Below(random_.Chance(0.2) ? 1000 : 12));
    }
    return number;
  }

  // A time as Kineto writes it, mostly.
  void Microseconds(uint64_t limit) {
    if (options_.is_odd && random_.Chance(0.05)) {
      return Value(0);
    }
    const uint64_t ns = random_.Below(limit);
    std::string fraction = std::to_string(1000 + ns % 1000).substr(1);
    fraction.resize(random_.Chance(0.9) ? 3 : random_.Below(3));
    const std::string number = std::to_string(ns / 1000) + (fraction.empty() ? "" : "." + fraction);
    options_.is_odd&& random_.Chance(0.03) ? String(number) : Raw(number);
  }

  void Raw(std::string_view token) { text_ += token; }

  void Value(int depth) {
    switch (random_.Below(depth < 4 ? 10 : 7)) {
      case 0:
        return Raw("null");
      case 1:
        return Raw(random_.Chance(0.5) ? "true" : "false");
      case 2:
      case 3:
        return String(RandomText());
      case 4:
        return String(RandomNumber());
      case 5:
      case 6:
        return Raw(RandomNumber());
      case 7:
        return Object(depth + 1);
      default:
        return List(depth + 1);
    }
  }

  void List(int depth) {
    text_ += '[';
    const uint64_t count = random_.Below(4);
    for (uint64_t i = 0; i < count; ++i) {
      text_ += i == 0 ? "" : ",";
      Space();
      Value(depth);
      Space();
    }
    Space();
    text_ += ']';
  }

  void Object(int depth) {
    text_ += '{';
    const uint64_t count = random_.Below(4);
    for (uint64_t i = 0; i < count; ++i) {
      text_ += i == 0 ? "" : ",";
      Space();
      String(random_.Chance(0.5) ? random_.Pick(kArgsKeys) : random_.Pick(kOddKeys));
      Space();
      text_ += ':';
      Space();
      Value(depth);
      Space();
    }
    text_ += '}';
  }

  // --- events ---

  void Key(std::string_view key, size_t depth) {
    text_ += is_first_ ? "" : ",";
    is_first_ = false;
    NewLine(depth);
    String(key);
    Space();
    text_ += ':';
    text_ += options_.layout == Layout::kPretty ? " " : "";
    Space();
  }

  void Dimensions() {
    text_ += '[';
    for (int i = 0; i < 3; ++i) {
      text_ += (i == 0 ? "" : ",") + std::to_string(random_.Below(1024));
    }
    text_ += ']';
  }

  // A value so long that chunks have to be cut inside its event, or a list of objects that look
  // like events.
  void LongValue() {
    if (random_.Chance(0.5)) {
      return String(std::string(options_.long_values, 'n'));
    }
    text_ += '[';
    for (size_t bytes = 0; bytes < options_.long_values; bytes += 20) {
      text_ += std::string(bytes == 0 ? "" : ",") + R"({"name":"not one"})";
    }
    text_ += ']';
  }

  void ArgsValue(std::string_view key) {
    if (options_.is_odd && random_.Chance(0.15)) {
      Value(0);
    } else if (key == "grid" || key == "block") {
      Dimensions();
    } else if (key.starts_with("Input") || key == "Concrete Inputs") {
      List(2);
    } else if (key == "dtype" || key == "name" || key.starts_with("C") || key.starts_with("P")) {
      String(RandomText());
    } else {
      Raw(RandomInteger());
    }
  }

  void Args() {
    if (options_.is_odd && random_.Chance(0.1)) {
      return Value(3);  // null, a number, a text: anything but an object
    }
    text_ += '{';
    const bool outer = std::exchange(is_first_, true);
    for (uint64_t i = random_.Below(7); i > 0; --i) {
      const bool is_odd = options_.is_odd && random_.Chance(0.1);
      const std::string_view key = is_odd ? random_.Pick(kOddKeys) : random_.Pick(kArgsKeys);
      Key(key, 3);
      ArgsValue(key);
    }
    if (options_.long_values != 0 && random_.Chance(0.002)) {
      Key("Call stack", 3);
      LongValue();
    }
    is_first_ = outer;
    NewLine(2);
    text_ += '}';
  }

  void Member(std::string_view key) {
    Key(key, 2);
    if (options_.is_odd && random_.Chance(0.02)) {
      return Value(0);
    }
    if (key == "ph") {
      static constexpr std::string_view kPhases[] = {"X", "X", "X", "X", "X", "X",  "i", "M",
                                                     "s", "f", "C", "B", "t", "XX", ""};
      return String(options_.is_odd ? random_.Pick(kPhases) : "X");
    }
    if (key == "cat") {
      return String(random_.Chance(0.1) ? "fwdbwd" : random_.Pick(kCategories));
    }
    if (key == "name") {
      return String(random_.Chance(0.7) ? std::string(random_.Pick(kNames)) : RandomText());
    }
    if (key == "ts") {
      return Microseconds(random_.Chance(0.9) ? 1'000'000'000 : 1ULL << 61);
    }
    if (key == "dur") {
      return Microseconds(1'000'000);
    }
    if (key == "args") {
      return Args();
    }
    if (key == "pid" || key == "tid") {
      return options_.is_odd && random_.Chance(0.1) ? String("stream 7")
                                                    : Raw(std::to_string(random_.Below(4)));
    }
    Value(0);
  }

  void Event() {
    std::vector<std::string_view> keys{"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"};
    if (options_.is_odd) {
      for (const std::string_view more : {"id", "bp", "s", "tts", "name", "ts"}) {
        if (random_.Chance(0.05)) {
          keys.push_back(more);
        }
      }
      if (random_.Chance(0.1)) {
        keys.push_back(random_.Pick(kOddKeys));
      }
      for (size_t i = random_.Chance(0.3) ? keys.size() : 0; i > 1; --i) {
        std::swap(keys[i - 1], keys[random_.Below(i)]);
      }
      if (random_.Chance(0.1)) {
        keys.resize(random_.Below(keys.size() + 1));
      }
    }
    text_ += '{';
    is_first_ = true;
    for (const std::string_view key : keys) {
      Member(key);
    }
    NewLine(1);
    text_ += '}';
  }

  Random& random_;
  const EventsOptions options_;
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

std::string RandomEvents(Random& random, size_t count, const EventsOptions& options) {
  return EventsWriter(random, options).Write(count);
}

}  // namespace borescope::internal::testkit
