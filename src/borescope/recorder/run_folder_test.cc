#include "borescope/recorder/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace borescope::internal {

namespace {

// Sets a variable until its end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(RunNameTest, PlaceholdersHaveValues) {
  const Variable rank("RANK", "12");
  const Variable job("BORESCOPE_TEST_JOB", "night");
  EXPECT_EQ(*ExpandRunName("run-%r-%q{BORESCOPE_TEST_JOB}-100%%"), "run-12-night-100%");
  EXPECT_EQ(*ExpandRunName("%p"), std::to_string(getpid()));
}

TEST(RunNameTest, WhatHasNoValueIsAnError) {
  for (const char* const name : {"x%r", "x%q{BORESCOPE_TEST_UNSET}", "x%z", "x%", "x%q{"}) {
    const Result<std::string> expanded = ExpandRunName(name);
    ASSERT_FALSE(expanded.ok()) << name;
    EXPECT_NE(expanded.error().Sentence().find("%h (host)"), std::string::npos);
  }
}

TEST(RunNameTest, AValueNamesNoOtherFolder) {
  const Variable job("BORESCOPE_TEST_JOB", "../../etc");
  EXPECT_FALSE(ExpandRunName("%q{BORESCOPE_TEST_JOB}").ok());
}

TEST(RunNameTest, TheEndingSaysWhatIsConverted) {
  EXPECT_EQ(TargetOfRun("x")->folder, "x.bsr");
  EXPECT_EQ(TargetOfRun("x.bsr/")->folder, "x.bsr");
  EXPECT_EQ(TargetOfRun("x")->converted, "");
  EXPECT_EQ(TargetOfRun("a/x.rpd")->folder, "a/x.bsr");
  EXPECT_EQ(TargetOfRun("a/x.rpd")->converted, "a/x.rpd");
  EXPECT_EQ(TargetOfRun("x.json.gz")->folder, "x.bsr");
}

TEST(RunNameTest, AFolderThatIsThereIsNoNameOfARun) {
  for (const char* const name : {".", "..", "/", "a/..", "./", "a/.", "../.."}) {
    EXPECT_FALSE(TargetOfRun(name).ok()) << name;
  }
  EXPECT_EQ(TargetOfRun(".x")->folder, ".x.bsr");
  EXPECT_EQ(TargetOfRun("../x")->folder, "../x.bsr");
}

TEST(RunFolderTest, AFolderWithinNoneSaysWhatToDo) {
  const Result<void> made = MakeRunFolder("/no-such-folder/x.bsr", false);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().remedy, "make the folder that it is to lie in");
}

TEST(RunNameTest, ARankThatIsNoNumberIsNone) {
  const Variable rank("RANK", "three");
  EXPECT_EQ(RankByEnvironment(), -1);
}

TEST(NetworkFolderTest, ByTheNumberOfTheFileSystem) {
  EXPECT_TRUE(IsNetworkFileSystem(0x6969));              // NFS
  EXPECT_TRUE(IsNetworkFileSystem(0xffffffffff534d42));  // CIFS, with its sign extended
  EXPECT_FALSE(IsNetworkFileSystem(0xef53));             // ext4
  EXPECT_FALSE(IsNetworkFileSystem(0x01021994));         // tmpfs
  EXPECT_FALSE(IsOnNetwork("/proc"));
  EXPECT_FALSE(IsOnNetwork("/does/not/exist"));
}

}  // namespace

}  // namespace borescope::internal
