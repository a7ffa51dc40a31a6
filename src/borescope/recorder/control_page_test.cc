#include "borescope/recorder/control_page.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "borescope/recorder/run_folder.h"
#include "borescope/recording/control.h"

namespace borescope::internal {
namespace {

class ControlPageTest : public testing::Test {
 protected:
  ControlPageTest() : folder_(testing::TempDir() + "/run" + std::to_string(getpid()) + ".bsr") {
    std::filesystem::remove_all(folder_);
    EXPECT_TRUE(MakeRunFolder(folder_, false).ok());
  }
  ~ControlPageTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(ControlPageTest, StartsAndStopsCount) {
  Result<ControlPage> page = ControlPage::Make(folder_, true);
  ASSERT_TRUE(page.ok()) << page.error().Sentence();
  EXPECT_TRUE(page->Start());
  EXPECT_TRUE(page->Stop());
  EXPECT_FALSE(page->Stop());
  EXPECT_FALSE(page->Stop());  // never below none
  EXPECT_TRUE(page->Start());
}

TEST_F(ControlPageTest, EndsWhatWasStartedOften) {
  Result<ControlPage> page = ControlPage::Make(folder_, false);
  ASSERT_TRUE(page.ok()) << page.error().Sentence();
  EXPECT_FALSE(page->rule_facts().has_started);
  page->Start();
  page->Start();
  EXPECT_TRUE(page->rule_facts().is_recording);
  page->EndAll(false);
  EXPECT_FALSE(page->is_recording());
  EXPECT_EQ(page->starts(), 0U);
  const RuleFacts facts = page->rule_facts();
  EXPECT_TRUE(facts.has_started);
  EXPECT_FALSE(facts.is_recording || facts.has_more || facts.last_step.has_value());
  EXPECT_TRUE(facts.seen.empty());
}

// What a program began before the launcher ended all is over: its start is not counted any more,
// and its stop takes nobody else's start.
TEST_F(ControlPageTest, WhatWasEndedCountsNoMore) {
  recording::Control page = {};
  uint32_t before = 7;
  EXPECT_TRUE(recording::AddStartIn(page, 0, before));
  EXPECT_EQ(before, 0U);
  recording::EndStarts(page);
  EXPECT_EQ(recording::CountOf(page.starts), 0U);
  const uint16_t epoch = recording::EpochOf(page.starts);
  EXPECT_NE(epoch, 0);
  EXPECT_FALSE(recording::AddStartIn(page, 0, before));
  EXPECT_TRUE(recording::AddStartIn(page, epoch, before));
  EXPECT_FALSE(recording::AddStopIn(page, 0, before));
  EXPECT_EQ(recording::CountOf(page.starts), 1U);
  EXPECT_TRUE(recording::AddStopIn(page, epoch, before));
  EXPECT_EQ(before, 1U);
  EXPECT_FALSE(recording::AddStopIn(page, epoch, before));
}

// A program without /proc has 0 for when it began: it is waited for like any other.
TEST_F(ControlPageTest, WhoCannotSayWhenItBeganIsAskedToFlush) {
  Result<ControlPage> page = ControlPage::Make(folder_, true);
  ASSERT_TRUE(page.ok());
  const auto pid = static_cast<uint32_t>(getpid());
  const auto write_slot = [&](uint64_t start_time) {
    std::fstream file(folder_ + "/" + recording::kControlName,
                      std::ios::in | std::ios::out | std::ios::binary);
    recording::FlusherSlot slot{};
    slot.pid = pid;
    slot.start_time = start_time;
    file.seekp(offsetof(recording::Control, flushers));
    file.write(reinterpret_cast<const char*>(&slot), sizeof(slot));
  };
  write_slot(0);
  EXPECT_EQ(page->Flush({}).silent, 1U);
  EXPECT_EQ(page->Flush({}).silent, 1U) << "its slot is still its own";
  write_slot(1);
  EXPECT_EQ(page->Flush({}).silent, 0U) << "an older process of the number";
}

// Whoever may write to the folder may write anything there.
TEST_F(ControlPageTest, BoundsWhatIsOnThePage) {
  Result<ControlPage> page = ControlPage::Make(folder_, false);
  ASSERT_TRUE(page.ok());
  constexpr size_t kFirstName = offsetof(recording::Control, seen);
  std::fstream file(folder_ + "/" + recording::kControlName,
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kFirstName);
  file.write(
      "\xff\xff\xff\xff"
      "abc",
      7);
  file.close();
  const RuleFacts facts = page->rule_facts();
  ASSERT_EQ(facts.seen.size(), 1U);
  EXPECT_EQ(facts.seen[0].size(), sizeof(recording::SeenName::text));
  EXPECT_EQ(facts.seen[0].substr(0, 4), std::string("abc\0", 4));
}

TEST_F(ControlPageTest, OthersSeeWhatOneChanges) {
  Result<ControlPage> page = ControlPage::Make(folder_, false);
  ASSERT_TRUE(page.ok());
  const Result<ControlPage> other = ControlPage::Open(folder_);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->is_recording());
  page->Start();
  EXPECT_TRUE(other->is_recording());
}

TEST_F(ControlPageTest, ThreadsLoseNoStart) {
  ASSERT_TRUE(ControlPage::Make(folder_, false).ok());
  constexpr int kThreads = 4;
  constexpr int kStarts = 500;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        Result<ControlPage> page = ControlPage::Open(folder_);
        for (int start = 0; start < kStarts; ++start) page->Start();
      });
    }
  }
  EXPECT_EQ(ControlPage::Open(folder_)->starts(), uint32_t{kThreads * kStarts});
}

TEST_F(ControlPageTest, OnlyARunIsOpened) {
  EXPECT_FALSE(ControlPage::Open(folder_).ok());
  std::ofstream(folder_ + "/control") << std::string(recording::kControlBytes, 'x');
  const Result<ControlPage> page = ControlPage::Open(folder_);
  ASSERT_FALSE(page.ok());
  EXPECT_NE(page.error().Sentence().find("no folder of a run"), std::string::npos);
}

TEST_F(ControlPageTest, AFolderWithOtherFilesIsNotReplaced) {
  ASSERT_TRUE(ControlPage::Make(folder_, true).ok());
  std::ofstream(folder_ + "/thesis.txt") << "years";
  EXPECT_FALSE(MakeRunFolder(folder_, true).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/thesis.txt"));
  std::filesystem::remove(folder_ + "/thesis.txt");
  EXPECT_FALSE(MakeRunFolder(folder_, false).ok());
  EXPECT_TRUE(MakeRunFolder(folder_, true).ok());
}

}  // namespace
}  // namespace borescope::internal
