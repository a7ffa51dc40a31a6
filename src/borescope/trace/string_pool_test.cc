#include "borescope/trace/string_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

TEST(StringPoolTest, IdZeroIsTheEmptyText) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(pool.Intern("").value, 0U);
  EXPECT_EQ(pool.Get({0}), "");
  EXPECT_EQ(pool.Get(StringId{}), "");
}

// Output order and equality of merged parts depend on this order.
TEST(StringPoolTest, IdsFollowTheOrderOfFirstAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.Intern("b").value, 1U);
  EXPECT_EQ(pool.Intern("a").value, 2U);
  EXPECT_EQ(pool.Intern("b").value, 1U);
  EXPECT_EQ(pool.Intern("c").value, 3U);
  EXPECT_EQ(pool.size(), 4U);
}

TEST(StringPoolTest, FindNeverAdds) {
  StringPool pool;
  EXPECT_FALSE(pool.Find("kernel").valid());
  EXPECT_EQ(pool.size(), 1U);
  const StringId id = pool.Intern("kernel");
  EXPECT_EQ(pool.Find("kernel"), id);
  EXPECT_EQ(pool.Find(""), StringId{0});
  EXPECT_FALSE(pool.Find("kerneL").valid());
}

TEST(StringPoolTest, TextsAreCopied) {
  StringPool pool;
  std::string text = "before";
  const StringId id = pool.Intern(text);
  text = "after!";
  EXPECT_EQ(pool.Get(id), "before");
}

TEST(StringPoolTest, TextsThatDifferOnlyInLengthOrZeroBytesDiffer) {
  StringPool pool;
  const std::string zeros(20, '\0');
  for (size_t length = 1; length <= zeros.size(); ++length) {
    EXPECT_EQ(pool.Intern(std::string_view(zeros).substr(0, length)).value, length);
  }
}

// Against a map, through many growths of the table and blocks of text.
TEST(StringPoolTest, ManyTextsKeepTheirIdsAndBytes) {
  StringPool pool;
  std::map<std::string, uint32_t> ids{{"", 0}};
  std::mt19937 random(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "name" + std::to_string(random() % 9000);
    text += std::string(random() % 40, 'x');
    const auto [known, is_new] = ids.try_emplace(text, static_cast<uint32_t>(ids.size()));
    ASSERT_EQ(pool.Intern(text).value, known->second) << text;
  }
  ASSERT_EQ(pool.size(), ids.size());
  for (const auto& [text, id] : ids) {
    ASSERT_EQ(pool.Get({id}), text);
    ASSERT_EQ(pool.Find(text).value, id);
  }
}

// Texts longer than a quarter of a block (64 KiB) get a block of their own, wherever they come.
TEST(StringPoolTest, ViewsSurviveLongTextsInBetween) {
  StringPool pool;
  std::vector<std::string> texts;
  for (const size_t size : {5UL, 16'384UL, 16'385UL, 3UL, 65'536UL, 1'000'000UL, 7UL, 16'000UL,
                            16'000UL, 16'000UL, 16'000UL, 16'000UL, 9UL}) {
    texts.push_back(std::to_string(texts.size()) + std::string(size, 'k'));
  }
  std::vector<std::string_view> views;
  for (const std::string& text : texts) {
    views.push_back(pool.Get(pool.Intern(text)));
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(views[i] == texts[i]) << "text " << i;
  }
  EXPECT_GE(pool.bytes(), 1'000'000U);
}

// A view of texts elsewhere is a pool like the one they come from.
TEST(StringPoolTest, AViewHasTheSameTexts) {
  const std::string bytes = "kernelcopy";
  const uint64_t begins[] = {0, 0, 6, 10};
  StringPool view = StringPool::View(begins, bytes);
  EXPECT_EQ(view.size(), 3U);
  EXPECT_EQ(view.Get({1}), "kernel");
  EXPECT_EQ(view.Get({1}).data(), bytes.data());
  EXPECT_EQ(view.Find(""), StringId{0});
  EXPECT_EQ(view.Find("copy"), StringId{2});
  EXPECT_FALSE(view.Find("set").valid());
}

TEST(StringPoolTest, AViewThatOwnsItsTextsTakesMore) {
  std::string bytes;
  std::vector<uint64_t> begins = {0, 0};
  for (int i = 0; i < 1000; ++i) {
    bytes += "text " + std::to_string(i);
    begins.push_back(bytes.size());
  }
  StringPool pool = StringPool::View(begins, bytes);
  pool.Own();
  bytes.assign(bytes.size(), '?');
  EXPECT_EQ(pool.Intern("text 7"), StringId{8});
  EXPECT_EQ(pool.Intern("new"), StringId{1001});
  EXPECT_EQ(pool.Get({1000}), "text 999");
}

}  // namespace
}  // namespace borescope::internal
