#include "tests/support/writing/scenario_layout.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/writing/scenario_damage.h"

namespace borescope::scenario {
namespace {

TEST(TextLayout, WritesValues) {
  const std::string json = R"([[1, 2], [], ["a, b"]])";
  EXPECT_EQ(TextLayout(LayoutKind::kKineto).Value(json, Depth::kArgs), json);
  EXPECT_EQ(TextLayout(LayoutKind::kCompact).Value(json, Depth::kArgs), R"([[1,2],[],["a, b"]])");
  EXPECT_EQ(TextLayout(LayoutKind::kIndent4).Value(R"({"a": [1], "b": []})", Depth::kTop),
            "{\n        \"a\": [\n            1\n        ],\n        \"b\": []\n    }");
}

TEST(TextLayout, SeparatesMembers) {
  const TextLayout kineto(LayoutKind::kKineto);
  EXPECT_EQ(kineto.Key(Depth::kEvent, Gap::kLine, "ts"), ",\n    \"ts\": ");
  EXPECT_EQ(kineto.Key(Depth::kArgs, Gap::kWide, "cbid"), ",      \"cbid\": ");
  EXPECT_EQ(TextLayout(LayoutKind::kCompact).Key(Depth::kEvent, Gap::kLine, "ts"), ",\"ts\":");
  EXPECT_EQ(TextLayout(LayoutKind::kOneLine).Key(Depth::kEvent, Gap::kFirst, "ph"), "\"ph\": ");
  EXPECT_EQ(TextLayout(LayoutKind::kIndent4).Key(Depth::kEvent, Gap::kSame, "ts"),
            ",\n            \"ts\": ");
}

constexpr const char* kEvent =
    R"({"ph": "X", "name": "loss", "pid": 1, "tid": 2, "ts": 3.5, "dur": 4.25, )"
    R"("args": {"External id": 9, "blocks per SM": 1.5}})";

std::string Damaged(Fault fault, int64_t variant = 0) {
  std::string event = kEvent;
  DamageText(fault, variant, TextLayout(LayoutKind::kOneLine), &event);
  return event;
}

// `kEvent` with `from` replaced.
std::string Changed(const std::string& from, const std::string& to) {
  std::string event = kEvent;
  return event.replace(event.find(from), from.size(), to);
}

TEST(DamageText, BreaksOnePlace) {
  EXPECT_EQ(Damaged(Fault::kNanValue), Changed("1.5", "nan"));
  EXPECT_EQ(Damaged(Fault::kBadUtf8), Changed("loss", "lo\xC3\x28\xFFss"));
  EXPECT_EQ(Damaged(Fault::kControlChar), Changed("loss", "lo\nss"));
  EXPECT_EQ(Damaged(Fault::kUnescapedQuote), Changed("loss", R"(lo{"device": "cpu"}ss)"));
  EXPECT_EQ(Damaged(Fault::kDuplicateKey),
            Changed(R"("External)", R"("correlation": 0, "External)"));
  EXPECT_EQ(Damaged(Fault::kMissingField, 0), Changed(R"(, "dur": 4.25)", ""));
  EXPECT_EQ(Damaged(Fault::kMissingField, 1), Changed(R"(, "ts": 3.5)", ""));
  EXPECT_EQ(Damaged(Fault::kStringNumbers),
            Changed(R"("pid": 1, "tid": 2)", R"("pid": "1", "tid": "2")"));
  EXPECT_EQ(Damaged(Fault::kNullArgs),
            Changed(R"({"External id": 9, "blocks per SM": 1.5})", "null"));
}

TEST(DamageText, LeavesFaultsOfTheRecordingAlone) {
  EXPECT_EQ(Damaged(Fault::kStreamOverlap), kEvent);
  EXPECT_EQ(Damaged(Fault::kNone), kEvent);
}

}  // namespace
}  // namespace borescope::scenario
