#include "borescope/recorder/attach/attach.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "borescope/testing/no_descriptors.h"

namespace borescope::internal {

namespace {

// As a client sends it.
std::string Message(std::string type, const std::string& payload, uint64_t size) {
  std::string text(sizeof(size), '\0');
  std::memcpy(text.data(), &size, sizeof(size));
  type.resize(32, '\0');
  return text + type + payload;
}

std::string Request(uint32_t type, uint32_t count, const std::vector<int32_t>& pids) {
  std::string payload(16 + pids.size() * sizeof(int32_t), '\0');
  std::memcpy(payload.data(), &type, sizeof(type));
  std::memcpy(payload.data() + 4, &count, sizeof(count));
  if (!pids.empty()) std::memcpy(payload.data() + 16, pids.data(), pids.size() * sizeof(int32_t));
  return Message("req", payload, payload.size());
}

TEST(ProfilerMessagesTest, ARequestNamesItsProcessAndAncestors) {
  const auto message = ParseProfilerMessage(Request(2, 3, {42, 7, 1}));
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->kind, ProfilerMessage::Kind::kRequest);
  EXPECT_EQ(message->type, kAsksForActivities);
  EXPECT_EQ(message->pids, (std::vector<int32_t>{42, 7, 1}));
}

TEST(ProfilerMessagesTest, AContext) {
  const auto message = ParseProfilerMessage(Message("ctxt", std::string(16, 'x'), 16));
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->kind, ProfilerMessage::Kind::kContext);
}

TEST(ProfilerMessagesTest, WhatIsNoMessageIsNothing) {
  const std::string whole = Request(2, 2, {42, 7});
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ParseProfilerMessage(whole.substr(0, length)).has_value()) << length;
  }
  EXPECT_FALSE(ParseProfilerMessage(whole + "x").has_value());
  EXPECT_FALSE(ParseProfilerMessage(Request(2, 0, {})).has_value());
  EXPECT_FALSE(ParseProfilerMessage(Request(2, 3, {42, 7})).has_value());
  EXPECT_FALSE(ParseProfilerMessage(Request(2, 0xffffffff, {42, 7})).has_value());
  EXPECT_FALSE(ParseProfilerMessage(Message("other", "", 0)).has_value());
  EXPECT_FALSE(ParseProfilerMessage(Message("req", "", 0)).has_value());
  EXPECT_FALSE(ParseProfilerMessage(Message("ctxt", "", ~uint64_t{0})).has_value());
  EXPECT_FALSE(ParseProfilerMessage(Message(std::string(32, 'r'), "", 0)).has_value());
}

// Where no descriptors are left, nobody can look at a process.
TEST(AttachTest, AProcessThatCannotBeLookedAtIsNotCalledGone) {
  {
    const NoDescriptors none;
    const Result<AttachOutcome> attached = AttachTo({.pids = {getpid()}, .folder = {}});
    ASSERT_FALSE(attached.ok());
    EXPECT_EQ(attached.error().Sentence(), "no socket can be made: Too many open files");
  }
  const Result<AttachOutcome> gone = AttachTo({.pids = {0x7fffffff}, .folder = {}});
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().Sentence().find("does not exist here"), std::string::npos);
}

TEST(ProfilerMessagesTest, AnswersHaveTheirSizeFirst) {
  const std::string answer = MakeProfilerAnswer(ProfilerMessage::Kind::kRequest, "A=1\n");
  ASSERT_EQ(answer.size(), 44U);
  EXPECT_EQ(answer.substr(0, 12), std::string("\4\0\0\0\0\0\0\0req\0", 12));
  EXPECT_EQ(answer.substr(40), "A=1\n");
  EXPECT_EQ(MakeContextAnswer().size(), 44U);
}

}  // namespace

}  // namespace borescope::internal
