// A trace from the store of indexed traces is the trace of its file: every column, every text and
// every answer. And nothing that is written into a stored trace is believed: it is refused, or
// leads nowhere that a trace does not lead.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/catalog/catalog.h"
#include "borescope/engine/analyse_bytes.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/map_files.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/run.h"
#include "borescope/schema.h"
#include "borescope/store/stored_trace.h"
#include "borescope/store/trace_checks.h"
#include "borescope/store/trace_store.h"
#include "tests/oracle/random.h"
#include "tests/oracle/random_run.h"
#include "tests/oracle/samples.h"
#include "tests/oracle/trace_text.h"
#include "tests/property/invariants.h"
#include "tests/property/synthetic.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

using testkit::FirstDifference;
using testkit::Random;
using testkit::TextOf;
using testkit::WhatIsWrongWith;

constexpr uint64_t kPlenty = uint64_t{1} << 32;
constexpr ContentHash kKey = {{7, 8}};
const SecretHash& Hash() {
  static const SecretHash hash({1, 2, 3, 4});
  return hash;
}

std::string Stored(const Trace& trace, const TraceIndex& index) {
  std::string bytes;
  const Result<void> written =
      WriteStoredTrace(trace, index, kKey, Hash(), 2, [&](std::string_view piece) -> Result<void> {
        bytes += piece;
        return {};
      });
  EXPECT_TRUE(written.ok()) << written.error().Sentence();
  return bytes;
}

Result<StoredTrace> ReadBack(const std::string& bytes, const std::string& name) {
  return ReadStoredTrace(bytes, nullptr, kKey, {name, RemedyOf}, Hash(), 2);
}

// Files of every format that is kept: of this repository, and samples where they are installed.
std::vector<std::string> InputFiles() {
  std::vector<std::string> files;
  const auto add = [&](const fs::path& folder) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, missing)) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path().string());
      }
    }
  };
  for (const char* folder : {"kineto", "database"}) {
    add(fs::path(BORESCOPE_FUZZ_CORPUS) / folder);
  }
  for (const char* folder : {"small", "demo_run"}) {
    add(fs::path(BORESCOPE_TEST_DATA) / folder);
  }
  for (const char* folder : {"kineto", "nsys", "rpd", "memory"}) {
    add(testkit::SamplesFolder() / "data" / folder);
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(StoreTest, EveryTraceComesBackAsItWas) {
  size_t traces = 0;
  for (const std::string& file : InputFiles()) {
    const Result<Trace> trace = LoadFile(file, {2, {}});
    if (!trace.ok()) {
      continue;
    }
    const TraceIndex index = BuildIndex(*trace, 2);
    const std::string bytes = Stored(*trace, index);
    const Result<StoredTrace> back = ReadBack(bytes, file);
    ASSERT_TRUE(back.ok()) << file << ": " << back.error().Sentence();
    EXPECT_EQ(FirstDifference(TextOf(back->trace, back->index), TextOf(*trace, index)), "") << file;
    EXPECT_EQ(back->trace.meta().remedy, trace->meta().remedy) << file;
    EXPECT_TRUE(Stored(back->trace, back->index) == bytes) << file;
    ++traces;
  }
  EXPECT_GT(traces, 20U);
}

// What is kept under the content of a file must not depend on anything else: here on its name.
TEST(StoreTest, NothingThatIsStoredDependsOnTheName) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  for (const std::string& file : InputFiles()) {
    const std::string copy = folder.path() + "/rank-77_of_99.another.name";
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
    const Result<Trace> a = LoadFile(file, {2, {}});
    const Result<Trace> b = LoadFile(copy, {1, {}});
    ASSERT_EQ(a.ok(), b.ok()) << file;
    if (a.ok()) {
      EXPECT_TRUE(Stored(*a, BuildIndex(*a, 2)) == Stored(*b, BuildIndex(*b, 1))) << file;
    }
  }
}

std::string AnswerOf(const borescope::Run& run, std::string_view verb) {
  const borescope::Result<borescope::Answer> answer = run.Ask(verb);
  return answer.ok() ? *answer->Render("json") : answer.error().Sentence();
}

// Three runs of the library: without a cache, one that fills it, and one that is answered from it.
TEST(StoreTest, AnswersAreTheSameWithAndWithoutACache) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  OpenOptions with_cache;
  with_cache.cache = folder.path() + "/cache";
  with_cache.keep_bytes = 0;
  OpenOptions without = with_cache;
  without.cache.clear();
  size_t found = 0;
  for (const std::string& file : InputFiles()) {
    if (fs::file_size(file) > 60'000) {
      continue;  // the other tests have them
    }
    without.keep_bytes = kPlenty;
    const borescope::Run plain = borescope::Run::Open({file}, without).value();
    for (const VerbInfo& verb : Describe().verbs) {
      if (verb.takes_two) {
        continue;
      }
      const borescope::Run run = borescope::Run::Open({file}, with_cache).value();
      EXPECT_EQ(AnswerOf(run, verb.name), AnswerOf(plain, verb.name)) << file << ": " << verb.name;
    }
    const borescope::Run run = borescope::Run::Open({file}, with_cache).value();
    const borescope::Result<borescope::Answer> answer = run.Ask("info");
    found += answer.ok() && answer->files().front().cache == CacheUse::kFound ? 1 : 0;
  }
  EXPECT_GT(found, 10U);
}

TEST(StoreTest, RandomRunsComeBackAsTheyWere) {
  Random random(11);
  for (int i = 0; i < 50; ++i) {
    const Trace trace = TraceOf(MakeRandomRun(random));
    const TraceIndex index = BuildIndex(trace, 1);
    const std::string bytes = Stored(trace, index);
    const Result<StoredTrace> back = ReadBack(bytes, "");
    ASSERT_TRUE(back.ok()) << back.error().Sentence();
    EXPECT_EQ(FirstDifference(TextOf(back->trace, back->index), TextOf(trace, index)), "");
  }
}

// What another question would have changed of a view must not reach the file.
TEST(StoreTest, ATraceThatIsTakenOwnsWhatItHas) {
  const Trace trace =
      LoadBytes(testkit::Synthetic(testkit::Writer::kPretty).Text(), "a.json", {}).value();
  const TraceIndex index = BuildIndex(trace, 1);
  std::string bytes = Stored(trace, index);
  TraceData data = std::move(ReadStoredTrace(bytes, std::make_shared<int>(), kKey,
                                             {"a.json", RemedyOf}, Hash(), 1)
                                 .value()
                                 .trace)
                       .Take();
  bytes.assign(bytes.size(), '\xff');
  EXPECT_EQ(FirstDifference(TextOf(Trace(std::move(data))), TextOf(trace)), "");
}

std::string SmallStored() {
  const Trace trace =
      LoadBytes(testkit::Synthetic(testkit::Writer::kPretty).Text(), "a.json", {}).value();
  return Stored(trace, BuildIndex(trace, 1));
}

TEST(StoreTest, EveryDamagedByteIsNoticed) {
  std::string bytes = SmallStored();
  const std::string sound = bytes;
  Random random(5);
  size_t unnoticed = 0;
  for (size_t at = 0; at < bytes.size(); at += 1 + random.Below(40)) {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
    unnoticed += ReadBack(bytes, "").ok() ? 1 : 0;
    bytes[at] = sound[at];
    EXPECT_FALSE(ReadBack(sound.substr(0, at), "").ok()) << at;
  }
  // Only what lies between sections, up to the next multiple of 64 bytes, is no part of anything.
  EXPECT_LT(unnoticed, bytes.size() / 64);
  EXPECT_FALSE(ReadBack(bytes + "x", "").ok());
  EXPECT_FALSE(ReadStoredTrace(bytes, nullptr, {{7, 9}}, {}, Hash(), 1).ok()) << "other inputs";
  EXPECT_FALSE(ReadStoredTrace(bytes, nullptr, kKey, {}, SecretHash({1, 2, 3, 5}), 1).ok());
}

// Asks every analysis, as far as the trace has what it needs.
void AskEverything(const Trace& trace, const TraceIndex& index) {
  for (const AnalysisSpec* spec : Analyses()) {
    for (const Params& params : AllModes(*spec)) {
      static_cast<void>(MapTrace(*spec, params, {0, trace, index}));
    }
  }
}

std::vector<StoredSection> SectionsOf(const std::string& bytes) {
  StoredHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  std::vector<StoredSection> list(head.sections);
  std::memcpy(list.data(), bytes.data() + sizeof head, list.size() * sizeof(StoredSection));
  return list;
}

// Every section in turn, filled with one number: the last ones of each width, the first ones, none.
TEST(StoreTest, SectionsOfOneNumberLeadNowhere) {
  using std::string_view_literals::operator""sv;
  constexpr std::string_view kFills[] = {
      "\xff"sv, "\x7f"sv, "\x80"sv, "\0"sv, "\1"sv, "\0\0\0\x80"sv, "\0\0\0\0\0\0\0\x80"sv};
  const std::string sound = SmallStored();
  size_t asked = 0;
  size_t refused = 0;
  for (const StoredSection& section : SectionsOf(sound)) {
    for (const std::string_view fill : kFills) {
      std::string bytes = sound;
      for (size_t i = 0; i < section.bytes; ++i) {
        bytes[section.offset + i] = fill[i % fill.size()];
      }
      if (bytes == sound) {
        continue;
      }
      SealStoredTrace(Hash(), bytes);
      const Result<StoredTrace> read = ReadBack(bytes, "a.json");
      refused += read.ok() ? 0 : 1;
      if (read.ok()) {
        AskEverything(read->trace, read->index);
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, 100U);
  EXPECT_GT(refused, 100U);
}

// Of the only file.
FileInfo InfoOf(const std::string& path, const OpenOptions& options) {
  return borescope::Run::Open({path}, options).value().Ask("info").value().files().front();
}

// SQLite looks for the log beside the file that a link leads to; what is in the log is not in the
// content of the file.
TEST(StoreTest, ADatabaseWithALogIsNotKeptThroughALink) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  const std::string real = folder.path() + "/real";
  fs::create_directory(real);
  fs::copy_file(BORESCOPE_FUZZ_CORPUS "/database/trace.rpd", real + "/a.rpd");
  std::ofstream(real + "/a.rpd-wal") << "rows";
  const std::string link = folder.path() + "/link.rpd";
  fs::create_symlink(real + "/a.rpd", link);
  OpenOptions options;
  options.cache = folder.path() + "/cache";
  EXPECT_EQ(InfoOf(link, options).cache, CacheUse::kNone);
  EXPECT_EQ(InfoOf(real + "/a.rpd", options).cache, CacheUse::kNone);
  fs::remove(real + "/a.rpd-wal");
  EXPECT_EQ(InfoOf(link, options).cache, CacheUse::kKept);
  std::ofstream(real + "/a.rpd-wal") << "rows";
  EXPECT_EQ(InfoOf(link, options).cache, CacheUse::kNone);
}

TEST(StoreTest, AFolderThatCannotBeUsedIsAnErrorUnlessItIsOptional) {
  const TemporaryFolder folder = TemporaryFolder::Make().value();
  const std::string path = BORESCOPE_TEST_DATA "/demo_run/rank-0.json.gz";
  OpenOptions options;
  options.cache = folder.path() + "/file";
  std::ofstream(options.cache).flush();
  EXPECT_FALSE(borescope::Run::Open({path}, options).ok());
  options.cache_is_optional = true;
  const FileInfo info = InfoOf(path, options);
  EXPECT_EQ(info.error, "");
  EXPECT_EQ(info.cache, CacheUse::kFailed);
  EXPECT_TRUE(info.cache_failure.starts_with(options.cache)) << info.cache_failure;
}

// Numbers that were changed so that checksums fit: the checks of rows alone are in the way.
TEST(StoreTest, NumbersThatLeadNowhereAreRefused) {
  const std::string sound = SmallStored();
  Random random(9);
  size_t refused = 0;
  size_t asked = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = sound;
    for (uint64_t change = random.Below(3) + 1; change > 0; --change) {
      const size_t at = random.Below(bytes.size());
      const char values[] = {'\0',   '\1',   '\x7f',
                             '\x80', '\xff', static_cast<char>(random.Below(256))};
      std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at),
                  std::min<size_t>(random.Below(2) == 0 ? 1 : 8, bytes.size() - at),
                  values[random.Below(std::size(values))]);
    }
    SealStoredTrace(Hash(), bytes);
    const Result<StoredTrace> read = ReadBack(bytes, "a.json");
    if (!read.ok()) {
      ++refused;
      continue;
    }
    EXPECT_EQ(FaultOfTrace(read->trace, read->index, 1), std::nullopt);
    if (++asked % 8 == 0) {
      AskEverything(read->trace, read->index);
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(asked, 100U);
}

}  // namespace
}  // namespace borescope::internal
