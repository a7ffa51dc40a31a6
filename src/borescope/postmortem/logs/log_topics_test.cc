#include "borescope/postmortem/logs/log_topics.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

// Slow and obvious.
LogTopics SearchedOneByOne(std::string_view line) {
  LogTopics topics = 0;
  for (const TopicWord& entry : TopicWords()) {
    if (Contains(line, entry.word)) topics |= static_cast<LogTopics>(entry.topic);
  }
  return topics;
}

TEST(LogTopics, AreThoseOfASearchForEachWord) {
  std::mt19937 random(7);
  const auto below = [&](size_t most) { return static_cast<size_t>(random() % most); };
  for (int i = 0; i < 20'000; ++i) {
    std::string line;
    for (size_t parts = below(5); parts > 0; --parts) {
      const std::string_view word = TopicWords()[below(TopicWords().size())].word;
      // Often only a part of a word, so that the next one begins within it.
      const size_t begin = below(3) == 0 ? below(word.size()) : 0;
      line += word.substr(begin, below(2) == 0 ? below(word.size()) + 1 : word.size());
      if (below(3) == 0) line += static_cast<char>(below(256));
    }
    ASSERT_EQ(TopicsOf(line), SearchedOneByOne(line)) << line;
  }
}

TEST(LogTopics, EachWordHasItsTopicAnywhere) {
  for (const TopicWord& entry : TopicWords()) {
    EXPECT_TRUE(Has(TopicsOf(entry.word), entry.topic)) << entry.word;
    EXPECT_TRUE(Has(TopicsOf("x " + std::string(entry.word) + " x"), entry.topic)) << entry.word;
  }
  EXPECT_EQ(TopicsOf(""), 0U);
  EXPECT_EQ(TopicsOf("step 3 loss 0.5"), 0U);
}

}  // namespace
}  // namespace borescope::internal
