// The yardstick where no other is at hand: simdjson's On Demand over pieces of the text, storing
// the eight columns that any trace tool needs and nothing else. No checks, no args, no indexes.
// Prints one JSON line like borescope-load-bench.
#include <simdjson.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

namespace od = simdjson::ondemand;

struct Columns {
  std::vector<std::string_view::size_type> name, category;
  std::vector<char> phase;
  std::vector<double> ts, dur;
  std::vector<int64_t> pid, tid, correlation;
};

class Names {
 public:
  size_t Intern(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) {
      return found->second;
    }
    texts_.push_back(std::make_unique<std::string>(text));
    return ids_.emplace(*texts_.back(), ids_.size()).first->second;
  }

 private:
  std::unordered_map<std::string_view, size_t> ids_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

int64_t IntegerOrZero(od::value value) {
  int64_t number = 0;
  return value.get_int64().get(number) == simdjson::SUCCESS ? number : 0;
}

struct Event {
  std::string_view name, category;
  char phase = '?';
  double ts = 0, dur = 0;
  int64_t pid = 0, tid = 0, correlation = 0;
};

void ReadArgs(od::value value, Event& event) {
  od::object args;
  if (value.get_object().get(args) != simdjson::SUCCESS) {
    return;
  }
  for (auto field : args) {
    if (field.key().raw()[0] == 'c' && field.key() == "correlation") {
      event.correlation = IntegerOrZero(field.value());
    }
  }
}

void ReadField(od::field& field, Event& event) {
  const od::raw_json_string key = field.key();
  const std::string_view raw = field.value().raw_json_token();
  if (key == "ph") {
    event.phase = raw.size() > 1 ? raw[1] : '?';
  } else if (key == "name") {
    event.name = raw;
  } else if (key == "cat") {
    event.category = raw;
  } else if (key == "ts") {
    event.ts = std::strtod(raw.data(), nullptr);
  } else if (key == "dur") {
    event.dur = std::strtod(raw.data(), nullptr);
  } else if (key == "pid") {
    event.pid = std::strtoll(raw.data(), nullptr, 10);
  } else if (key == "tid") {
    event.tid = std::strtoll(raw.data(), nullptr, 10);
  } else if (key == "args") {
    ReadArgs(field.value(), event);
  }
}

void Store(const Event& event, Names& names, Columns& columns) {
  columns.name.push_back(names.Intern(event.name));
  columns.category.push_back(names.Intern(event.category));
  columns.phase.push_back(event.phase);
  columns.ts.push_back(event.ts);
  columns.dur.push_back(event.dur);
  columns.pid.push_back(event.pid);
  columns.tid.push_back(event.tid);
  columns.correlation.push_back(event.correlation);
}

void ReadPiece(od::parser& parser, const std::string& piece, Names& names, Columns& columns) {
  auto document = parser.iterate(piece.data(), piece.size(), piece.capacity());
  for (auto element : document.get_array()) {
    od::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) {
      continue;
    }
    Event event;
    for (auto result : object) {
      od::field field = result.value_unsafe();
      ReadField(field, event);
    }
    Store(event, names, columns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: borescope-simdjson-loop FILE.json (Kineto's own layout)\n");
    return 2;
  }
  constexpr size_t kPiece = size_t{4} << 20;
  constexpr std::string_view kBetween = "\n  },";
  std::ifstream file(argv[1], std::ios::binary);
  std::string text(kPiece, ' ');
  std::string rest;
  Names names;
  Columns columns;
  od::parser parser;
  bool first = true;
  for (;;) {
    file.read(text.data(), static_cast<std::streamsize>(kPiece));
    rest.append(text.data(), static_cast<size_t>(file.gcount()));
    if (first) {
      rest.erase(0, rest.find('[', rest.find("\"traceEvents\"")) + 1);
      first = false;
    }
    const bool last = file.gcount() == 0;
    size_t cut = last ? rest.rfind("\n  }") : rest.rfind(kBetween);
    if (cut == std::string::npos) {
      break;
    }
    std::string piece = "[" + rest.substr(0, cut + 4) + "]";
    piece.reserve(piece.size() + simdjson::SIMDJSON_PADDING);
    ReadPiece(parser, piece, names, columns);
    rest.erase(0, cut + kBetween.size());
    if (last) {
      break;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"events\":%zu,\"peak_kb\":%ld}\n", columns.ts.size(), usage.ru_maxrss);
  return 0;
}
