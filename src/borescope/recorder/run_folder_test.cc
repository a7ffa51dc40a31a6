#include "borescope/recorder/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "borescope/base/io/paths.h"
#include "borescope/base/io/temporary_folder.h"
#include "borescope/recorder/control_page.h"
#include "borescope/recorder/record_run.h"
#include "borescope/recorder/run_log.h"
#include "borescope/testing/foreign_link.h"

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

TEST(RunFolderTest, WhatCannotBeLookedAtIsNotCalledThere) {
  const std::string name(300, 'x');
  const Result<void> made = MakeRunFolder(name + ".bsr", false);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().Sentence().find("cannot be made: File name too long"), std::string::npos)
      << made.error().Sentence();
  // Nor is it called something else than a recording.
  const Result<void> replaced = MakeRunFolder(name + ".bsr", true);
  ASSERT_FALSE(replaced.ok());
  EXPECT_NE(replaced.error().Sentence().find("File name too long"), std::string::npos);
}

TEST(SpoolTest, WhyItCannotBeMovedIsSaid) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  const std::string run = folder.path() + "/x.bsr";
  const Result<std::string> place = MakeSpool(run, folder.path());
  ASSERT_TRUE(place.ok()) << place.error().Sentence();
  ASSERT_EQ(rmdir(place->c_str()), 0);
  const Result<void> moved = MoveFromSpool(*place, run);
  ASSERT_FALSE(moved.ok());
  EXPECT_NE(moved.error().Sentence().find(*place + ": No such file or directory"),
            std::string::npos)
      << moved.error().Sentence();
}

// Until its end, another user than root, who may read and write anything.
class AsSomebody {
 public:
  AsSomebody() { has_changed_ = geteuid() == 0 && seteuid(kSomebody) == 0; }
  AsSomebody(const AsSomebody&) = delete;
  AsSomebody& operator=(const AsSomebody&) = delete;
  ~AsSomebody() {
    if (has_changed_) static_cast<void>(!seteuid(0));
  }

 private:
  static constexpr uid_t kSomebody = 65534;
  bool has_changed_ = false;
};

// A folder of a run that others may look into, with a log that nobody may read.
class HiddenLogTest : public testing::Test {
 protected:
  HiddenLogTest() : all_(TemporaryFolder::Make().value()), run_(all_.path() + "/x.bsr") {
    EXPECT_EQ(chmod(all_.path().c_str(), 0755), 0);
    EXPECT_TRUE(MakeRunFolder(run_, false).ok());
    EXPECT_TRUE(ControlPage::Make(run_, true).ok());
    EXPECT_TRUE(RunLog::Open(run_, "host.1.2.0.bsl").ok());
    EXPECT_EQ(chmod((run_ + "/host.1.2.0.bsl").c_str(), 0), 0);
    EXPECT_EQ(chmod(run_.c_str(), 0755), 0);
  }
  ~HiddenLogTest() override { chmod(run_.c_str(), 0700); }
  void SetUp() override {
    const AsSomebody somebody;
    if (geteuid() == 0 || !MayBeRead(run_)) {
      GTEST_SKIP() << "root may read all here, and no other user may look into this folder";
    }
  }

  TemporaryFolder all_;
  std::string run_;
};

TEST_F(HiddenLogTest, ItIsAnErrorOrNamed) {
  const AsSomebody somebody;
  const Result<std::vector<LogFile>> logs = ListLogs(run_);
  ASSERT_FALSE(logs.ok());
  EXPECT_NE(logs.error().Sentence().find("host.1.2.0.bsl: cannot be opened: Permission denied"),
            std::string::npos);
  std::vector<std::string> hidden;
  const Result<std::vector<LogFile>> others = ListLogs(run_, &hidden);
  ASSERT_TRUE(others.ok()) << others.error().Sentence();
  EXPECT_TRUE(others->empty());
  EXPECT_EQ(hidden, std::vector<std::string>{"host.1.2.0.bsl"});
}

// Its process may still write to it.
TEST_F(HiddenLogTest, ItsRunIsNotReplaced) {
  {
    const AsSomebody somebody;
    const Result<void> made = MakeRunFolder(run_, true);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().Sentence().find("cannot be opened: Permission denied"),
              std::string::npos)
        << made.error().Sentence();
  }
  EXPECT_EQ(access((run_ + "/host.1.2.0.bsl").c_str(), F_OK), 0);
}

// In a folder of another user anything may be there.
TEST_F(HiddenLogTest, AFolderThatMayNotBeLookedIntoSaysSo) {
  ASSERT_EQ(chmod(run_.c_str(), 0), 0);
  const AsSomebody somebody;
  for (const bool replaces : {false, true}) {
    const Result<void> made = MakeRunFolder(run_ + "/y.bsr", replaces);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().Sentence().find("Permission denied"), std::string::npos)
        << made.error().Sentence();
  }
  const Result<void> replaced = MakeRunFolder(run_, true);
  ASSERT_FALSE(replaced.ok());
  EXPECT_NE(replaced.error().Sentence().find("Permission denied"), std::string::npos)
      << replaced.error().Sentence();
}

TEST_F(HiddenLogTest, APageThatMayNotBeOpenedIsNotCalledNone) {
  ASSERT_EQ(chmod((run_ + "/control").c_str(), 0444), 0);
  const AsSomebody somebody;
  const Result<ControlPage> page = ControlPage::Open(run_);
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.error().code, ErrorCode::kIo);
  EXPECT_NE(page.error().Sentence().find("control: cannot be opened: Permission denied"),
            std::string::npos)
      << page.error().Sentence();
  const Result<ControlPage> looked = ControlPage::OpenToRead(run_);
  ASSERT_TRUE(looked.ok()) << looked.error().Sentence();
  EXPECT_TRUE(looked->is_recording());
}

// In /tmp anybody can prepare the folder that somebody else is about to record into.
TEST(RunFolderTest, NoFolderIsMadeThroughALinkOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const ForeignLink link;
  EXPECT_TRUE(MakeRunFolder(link.path() + "/ours.bsr", false).ok()) << "our own link";
  link.GiveAway();
  const Result<void> refused = MakeRunFolder(link.path() + "/x.bsr", false);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  EXPECT_NE(access((link.victim() + "/x.bsr").c_str(), F_OK), 0);
  const Result<std::string> spool = MakeSpool(link.victim() + "/y.bsr", link.path());
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
