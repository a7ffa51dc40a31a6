// Synthetic: a small trace of everything Kineto records, written in one of its layouts, event by
// event, so that a test can take it apart, damage it, and say what has to be left.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::internal::testkit {

enum class Writer { kPretty, kCompact, kOneLine };
inline constexpr Writer kWriters[] = {Writer::kPretty, Writer::kCompact, Writer::kOneLine};
const char* NameOf(Writer writer);

// Members in the order they are written; values are JSON text, not necessarily good.
using Members = std::vector<std::pair<std::string, std::string>>;

struct Event {
  Members members;
  Members args;
  bool has_args = true;

  // The value of a member of the event, made if it is not there.
  std::string& operator[](std::string_view key);
  void Remove(std::string_view key);
};

class Synthetic {
 public:
  explicit Synthetic(Writer writer);

  Writer writer() const { return writer_; }
  std::vector<Event>& events() { return events_; }
  const std::vector<Event>& events() const { return events_; }
  // The last op of the trace: what tests damage. Its neighbours are events of other kinds.
  Event& victim() { return events_[victim_]; }
  size_t victim_number() const { return victim_; }

  // The text of one event, and of all before the first and after the last one.
  std::string EventText(const Event& event) const;
  std::string Head() const;
  std::string Tail() const;
  std::string_view Separator() const;

  // The whole file, with the first `count` events only.
  std::string Text(size_t count = ~size_t{0}) const;
  // Where each event ends in Text().
  std::vector<size_t> EventEnds() const;

 private:
  std::string MembersText(const Members& members, const std::string& indent) const;

  Writer writer_;
  std::vector<Event> events_;
  size_t victim_ = 0;
};

// The bytes of a file, as one gzip member.
std::string Gzip(std::string_view text);

}  // namespace borescope::internal::testkit
