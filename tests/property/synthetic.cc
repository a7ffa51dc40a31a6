#include "tests/property/synthetic.h"

#include <zlib.h>

#include <algorithm>

namespace borescope::internal::testkit {
namespace {

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

Event Complete(std::string_view category, std::string_view name, int pid, int tid, double begin_us,
               double dur_us) {
  const auto us = [](double value) {
    std::string text = std::to_string(value);
    return text.substr(0, text.find('.') + 4);
  };
  Event event;
  event.members = {{"ph", Quoted("X")},          {"cat", Quoted(category)},
                   {"name", Quoted(name)},       {"pid", std::to_string(pid)},
                   {"tid", std::to_string(tid)}, {"ts", us(begin_us)},
                   {"dur", us(dur_us)}};
  return event;
}

constexpr int kProcess = 4711;
constexpr int kThread = 4712;

void AddStep(std::vector<Event>& events, int step) {
  const double begin = 1000.5 + step * 300;
  const std::string number = std::to_string(step);
  const auto add = [&](Event event, Members args) {
    event.args = std::move(args);
    events.push_back(std::move(event));
  };
  add(Complete("user_annotation", "ProfilerStep#" + number, kProcess, kThread, begin, 250),
      {{"External id", std::to_string(step * 10 + 1)}, {"Ev Idx", number}});
  add(Complete("python_function", "train.py(17): forward", kProcess, kThread, begin + 1, 200),
      {{"Python id", number}, {"Python parent id", "null"}});
  add(Complete("cpu_op", "aten::linear", kProcess, kThread, begin + 2, 90),
      {{"External id", std::to_string(step * 10 + 2)},
       {"Sequence number", number},
       {"Fwd thread id", "0"},
       {"Input Dims", "[[8, 16], [16, 16], []]"},
       {"Input type", R"(["float", "float", "Scalar"])"}});
  add(Complete("cuda_runtime", "cudaLaunchKernel", kProcess, kThread, begin + 10, 8.125),
      {{"cbid", "211"}, {"correlation", std::to_string(step * 10 + 5)}});
  add(Complete("kernel", "ampere_sgemm_128x64_nn", 0, 7, begin + 30, 40.25),
      {{"stream", "7"},
       {"correlation", std::to_string(step * 10 + 5)},
       {"External id", std::to_string(step * 10 + 2)},
       {"grid", "[64, 1, 1]"},
       {"block", "[128, 1, 1]"},
       {"registers per thread", "80"}});
  add(Complete("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, begin + 50, 60),
      {{"stream", "20"},
       {"correlation", std::to_string(step * 10 + 6)},
       {"Collective name", R"("allreduce")"},
       {"dtype", R"("Float")"},
       {"In msg nelems", "4096"},
       {"Process Group Ranks", R"("[0, 1]")"}});
  add(Complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, begin + 80, 5),
      {{"stream", "7"}, {"correlation", std::to_string(step * 10 + 7)}, {"bytes", "65536"}});
}

Event MemoryInstant() {
  Event event;
  event.members = {{"ph", Quoted("i")},
                   {"cat", Quoted("cpu_instant_event")},
                   {"s", Quoted("t")},
                   {"name", Quoted("[memory]")},
                   {"pid", std::to_string(kProcess)},
                   {"tid", std::to_string(kThread)},
                   {"ts", "1005.250"}};
  event.args = {{"Total Allocated", "2048"},
                {"Bytes", "-512"},
                {"Addr", "140018412748800"},
                {"Device Id", "0"},
                {"Device Type", "1"}};
  return event;
}

Event Flow(std::string_view phase, double ts_us) {
  Event event = Complete("fwdbwd", "fwdbwd", kProcess, kThread, ts_us, 0);
  event.members.front().second = Quoted(phase);
  event.members.pop_back();
  event.members.insert(event.members.begin() + 1, {"id", "1"});
  event.has_args = false;
  return event;
}

Event ThreadName(int pid, int tid, std::string_view name) {
  Event event;
  event.members = {{"name", Quoted("thread_name")},
                   {"ph", Quoted("M")},
                   {"ts", "1000.500"},
                   {"pid", std::to_string(pid)},
                   {"tid", std::to_string(tid)}};
  event.args = {{"name", Quoted(name)}};
  return event;
}

}  // namespace

const char* NameOf(Writer writer) {
  constexpr const char* kNames[] = {"pretty", "compact", "one line"};
  return kNames[static_cast<size_t>(writer)];
}

std::string& Event::operator[](std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const auto& member) { return member.first == key; });
  return found != members.end() ? found->second : members.emplace_back(key, "").second;
}

void Event::Remove(std::string_view key) {
  std::erase_if(members, [&](const auto& member) { return member.first == key; });
}

Synthetic::Synthetic(Writer writer) : writer_(writer) {
  for (int step = 0; step < 3; ++step) {
    AddStep(events_, step);
  }
  events_.push_back(MemoryInstant());
  events_.push_back(Flow("s", 1002.5));
  victim_ = events_.size();
  Event victim = Complete("cpu_op", "victim", kProcess, kThread, 1900, 10);
  victim.args = {{"External id", "99"}, {"Ev Idx", "77"}};
  events_.push_back(std::move(victim));
  events_.push_back(Flow("f", 1302.5));
  events_.push_back(ThreadName(0, 7, "stream 7 "));
  events_.push_back(ThreadName(kProcess, kThread, "thread 4712 (python)"));
}

std::string Synthetic::MembersText(const Members& members, const std::string& indent) const {
  std::string text;
  for (const auto& [key, value] : members) {
    text += text.empty() ? "" : writer_ == Writer::kOneLine ? "," : ", ";
    if (writer_ == Writer::kPretty && (text.empty() || indent.size() > 4)) {
      text += "\n" + indent;
    }
    text += Quoted(key) + (writer_ == Writer::kOneLine ? ":" : ": ") + value;
  }
  return text;
}

std::string Synthetic::EventText(const Event& event) const {
  const bool pretty = writer_ == Writer::kPretty;
  std::string text = "{" + MembersText(event.members, "    ");
  if (event.has_args) {
    text += event.members.empty() ? "" : pretty ? ",\n    " : ",";
    text += pretty ? "\"args\": {" : "\"args\":{";
    text += MembersText(event.args, "      ") + (pretty ? "\n    }" : "}");
  }
  return text + (pretty ? "\n  }" : "}");
}

std::string Synthetic::Head() const {
  const std::string members =
      R"("schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100", "warpSize": 32}],)"
      R"( "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},)";
  switch (writer_) {
    case Writer::kPretty:
      return "{\n  " + members + "\n  \"traceEvents\": [\n  ";
    case Writer::kCompact:
      return "{" + members + "\"traceEvents\": [\n";
    case Writer::kOneLine:
      break;
  }
  return "[";
}

std::string Synthetic::Tail() const {
  switch (writer_) {
    case Writer::kPretty:
      return "\n  ],\n  \"traceName\": \"a.json\",\n  \"baseTimeNanoseconds\": "
             "1712016000000000000\n}\n";
    case Writer::kCompact:
      return "\n],\"traceName\": \"a.json\"}";
    case Writer::kOneLine:
      break;
  }
  return "]";
}

std::string_view Synthetic::Separator() const {
  return writer_ == Writer::kPretty ? ",\n  " : writer_ == Writer::kCompact ? ",\n" : ",";
}

std::string Synthetic::Text(size_t count) const {
  std::string text = Head();
  for (size_t i = 0; i < std::min(count, events_.size()); ++i) {
    text += i == 0 ? "" : Separator();
    text += EventText(events_[i]);
  }
  return text + Tail();
}

std::vector<size_t> Synthetic::EventEnds() const {
  std::vector<size_t> ends;
  size_t at = Head().size();
  for (const Event& event : events_) {
    at += (ends.empty() ? 0 : Separator().size()) + EventText(event).size();
    ends.push_back(at);
  }
  return ends;
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace borescope::internal::testkit
