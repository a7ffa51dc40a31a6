#include "borescope/recorder/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/recorder/record_run.h"

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

// In /tmp anybody can prepare the folder that somebody else is about to record into.
TEST(RunFolderTest, NoFolderIsMadeThroughALinkOfSomebodyElse) {
  constexpr uid_t kSomebodyElse = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  const std::string all = folder.path() + "/all";
  ASSERT_EQ(mkdir(all.c_str(), 0700), 0);
  ASSERT_EQ(chmod(all.c_str(), 01777), 0);
  ASSERT_EQ(symlink(folder.path().c_str(), (all + "/link").c_str()), 0);
  EXPECT_TRUE(MakeRunFolder(all + "/link/ours.bsr", false).ok()) << "our own link";
  ASSERT_EQ(lchown((all + "/link").c_str(), kSomebodyElse, kSomebodyElse), 0);
  const Result<void> refused = MakeRunFolder(all + "/link/x.bsr", false);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  EXPECT_NE(access((folder.path() + "/x.bsr").c_str(), F_OK), 0);
  const Result<std::string> spool = MakeSpool(folder.path() + "/y.bsr", all + "/link");
  ASSERT_FALSE(spool.ok());
  EXPECT_NE(spool.error().Sentence().find("another user"), std::string::npos);
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
