#include "borescope/packs/hta/recorded/event_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

// Gives one byte at a time, so that every place is the end of a piece.
class Dripping final : public ByteSource {
 public:
  explicit Dripping(std::string_view text) : text_(text) {}
  Result<size_t> Read(char* out, size_t capacity) override {
    const size_t count = std::min<size_t>({1, capacity, text_.size()});
    std::copy_n(text_.begin(), count, out);
    text_.remove_prefix(count);
    return count;
  }
  uint64_t stored_bytes() const override { return 0; }
  uint64_t stored_total() const override { return 0; }

 private:
  std::string_view text_;
};

std::vector<std::string> Read(ByteSource& source, uint64_t begin, uint64_t end) {
  EventTexts texts(source, begin, end);
  std::vector<std::string> read;
  for (;;) {
    const Result<std::string_view> text = texts.Next();
    if (!text.ok() || text->empty()) {
      return read;
    }
    read.emplace_back(*text);
  }
}

constexpr std::string_view kText = R"([{"a":"}\"{"}, {"b":[{"c":"\\"}]},{}] {"d":1})";
const std::vector<std::string> kEvents{R"({"a":"}\"{"})", R"({"b":[{"c":"\\"}]})", "{}"};

TEST(EventTexts, ObjectsOfTheListAlone) {
  const auto source = OpenMemory(kText);
  EXPECT_EQ(Read(*source, 1, kText.find("] {")), kEvents);
}

TEST(EventTexts, PiecesMayEndAnywhere) {
  Dripping source(kText);
  EXPECT_EQ(Read(source, 1, kText.find("] {")), kEvents);
}

TEST(EventTexts, AnObjectThatIsCutIsNone) {
  const auto source = OpenMemory(kText.substr(0, kText.size() - 1));
  EXPECT_EQ(Read(*source, 1, kText.size()), kEvents);
}

TEST(EventTexts, LongerThanAPiece) {
  const std::string event = R"({"a":")" + std::string(3 << 20, 'x') + R"("})";
  const std::string text = event + "," + event;
  const auto source = OpenMemory(text);
  EXPECT_EQ(Read(*source, 0, text.size()), (std::vector<std::string>{event, event}));
}

}  // namespace
}  // namespace borescope::internal
