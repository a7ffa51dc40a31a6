// Whatever a partial holds, it ends in an Error or in an answer: bytes that were changed anywhere,
// and, which changed bytes seldom lead to, sound tables whose cells are none that a trace gives.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/analyse_bytes.h"
#include "borescope/engine/map_files.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/output/writer.h"
#include "tests/oracle/random.h"
#include "tests/oracle/random_run.h"
#include "tests/property/synthetic.h"

namespace borescope::internal::testkit {
namespace {

namespace fs = std::filesystem;

// Two ranks without files.
class PartialDamageTest : public testing::Test {
 protected:
  PartialDamageTest() {
    Random random(3);
    traces_.push_back(LoadBytes(Synthetic(Writer::kPretty).Text(), "a.json", {1, {}}).value());
    traces_.push_back(TraceOf(MakeRandomRun(random)));
    for (const Trace& trace : traces_) {
      indexes_.push_back(BuildIndex(trace, 1));
    }
  }

  PartialData Map(const AnalysisSpec& spec, const Params& params) const {
    PartialData partial;
    partial.program_version = "0";
    partial.question = {{&spec}, params, {}};
    for (size_t i = 0; i < traces_.size(); ++i) {
      PartialFile file;
      file.path = "rank" + std::to_string(i) + ".json";
      file.claim.named = static_cast<int64_t>(i);
      file.rank = static_cast<int64_t>(i);
      file.outcomes.push_back(OutcomeOf(MapRank(spec, params, i)));
      partial.files.push_back(std::move(file));
    }
    return partial;
  }

  Result<Tables> MapRank(const AnalysisSpec& spec, const Params& params, size_t i) const {
    BS_ASSIGN(Tables tables,
              MapTrace(spec, params, {static_cast<int64_t>(i), traces_[i], indexes_[i]}));
    const auto read_files = spec.PipelineFor(params).read_files;
    return read_files == nullptr ? std::move(tables) : read_files(std::move(tables), params);
  }

  std::vector<Trace> traces_;
  std::vector<TraceIndex> indexes_;
};

int64_t OddNumber(Random& random) {
  constexpr int64_t kOdd[] = {0,
                              1,
                              -1,
                              7,
                              -5,
                              int64_t{1} << 40,
                              -(int64_t{1} << 62),
                              std::numeric_limits<int64_t>::max(),
                              std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max() - 1};
  return random.Pick(kOdd);
}

double OddFraction(Random& random) {
  constexpr double kOdd[] = {0,
                             -1,
                             1e308,
                             -1e308,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(),
                             5e-324};
  return random.Pick(kOdd);
}

void SpoilCell(Random& random, size_t row, IntValues& cells) { cells[row] = OddNumber(random); }
void SpoilCell(Random& random, size_t row, FloatValues& cells) { cells[row] = OddFraction(random); }
void SpoilCell(Random& random, size_t row, BoolValues& cells) {
  cells[row] = static_cast<char>(random.Below(2));
}
void SpoilCell(Random& random, size_t row, StringValues& cells) {
  constexpr const char* kOdd[] = {"", "a", "\xff\x01;,\"\n", "device", "all"};
  StringValues spoilt;
  for (size_t i = 0; i < cells.size(); ++i) {
    spoilt.push_back(i == row ? std::string(random.Pick(kOdd)) : cells[i]);
  }
  cells = std::move(spoilt);
}

void SpoilColumn(Random& random, Column& column) {
  if (column.size() == 0) return;
  const size_t row = random.Below(column.size());
  if (random.Chance(0.2)) {
    column.missing.resize(column.size(), 0);
    column.missing[row] = static_cast<char>(random.Below(2));
  } else {
    std::visit([&](auto& cells) { SpoilCell(random, row, cells); }, column.values);
  }
}

// Adds a row like another one, or takes all away.
void SpoilRows(Random& random, Table& table) {
  const bool clears = table.rows() == 0 || random.Chance(0.3);
  for (Column& column : table.columns) {
    column.missing.resize(column.size(), 0);
    std::visit(
        [&](auto& cells) {
          using Values = std::decay_t<decltype(cells)>;
          Values kept;
          for (size_t i = 0; !clears && i < 2 * cells.size(); ++i) {
            kept.push_back(typename Values::value_type(cells[i % cells.size()]));
          }
          cells = std::move(kept);
        },
        column.values);
    const std::vector<char> marks = column.missing;
    column.missing.insert(column.missing.end(), marks.begin(), marks.end());
    column.missing.resize(column.size());
  }
}

void Spoil(Random& random, PartialData& partial) {
  PartialFile& file = partial.files[random.Below(partial.files.size())];
  for (uint64_t i = 0; i < 1 + random.Below(6); ++i) {
    Tables& tables = file.outcomes[0].tables;
    if (tables.empty()) return;
    Table& table = tables[random.Below(tables.size())];
    if (random.Chance(0.1)) {
      SpoilRows(random, table);
    } else if (!table.columns.empty()) {
      SpoilColumn(random, table.columns[random.Below(table.columns.size())]);
    }
  }
}

// Whether there is an answer.
bool TryToReduce(Result<PartialData> partial) {
  if (!partial.ok()) {
    EXPECT_FALSE(partial.error().Sentence().empty());
    return false;
  }
  PartsInMemory source(std::span<const PartialData>(&*partial, 1));
  const Result<AnswerData> answer = ReducePartials(source, {});
  if (!answer.ok()) return false;
  for (const char* format : {"json", "text", "csv"}) {
    StringSink sink;
    EXPECT_TRUE(FindTableWriter(format)->write(answer->document, {}, sink).ok());
  }
  return true;
}

TEST_F(PartialDamageTest, OddCellsEndInAnErrorOrAnAnswer) {
  Random random(1);
  size_t answers = 0;
  for (const AnalysisSpec* spec : Analyses()) {
    if (spec->takes_two()) continue;
    for (const Params& params : AllModes(*spec)) {
      SCOPED_TRACE(spec->name);
      const PartialData sound = Map(*spec, params);
      for (int i = 0; i < 30; ++i) {
        PartialData spoilt = sound;
        Spoil(random, spoilt);
        answers += TryToReduce(ParsePartialBody(PartialBody(spoilt), "odd")) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(answers, 1000U);
}

TEST_F(PartialDamageTest, ChangedBytesEndInAnErrorOrAnAnswer) {
  Random random(2);
  for (const AnalysisSpec* spec : Analyses()) {
    if (spec->takes_two()) continue;
    SCOPED_TRACE(spec->name);
    const std::string body = PartialBody(Map(*spec, {}));
    for (int i = 0; i < 100; ++i) {
      std::string changed = body;
      changed[random.Below(changed.size())] ^= static_cast<char>(1U << random.Below(8));
      changed.resize(random.Chance(0.2) ? random.Below(changed.size()) : changed.size());
      TryToReduce(ParsePartialBody(changed, "changed"));
    }
  }
}

// Some bits of compressed text mean nothing: then the partial is the same.
TEST_F(PartialDamageTest, NoChangeOfSealedBytesGoesUnnoticed) {
  const PartialData sound = Map(*FindAnalysis("kernels"), {});
  const std::string body = PartialBody(sound);
  const std::string bytes = *SerializePartial(sound);
  ASSERT_TRUE(ParsePartial(bytes, "sound").ok());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned bit : {0U, 3U, 7U}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1U << bit));
      const Result<PartialData> parsed = ParsePartial(changed, "changed");
      EXPECT_TRUE(!parsed.ok() || PartialBody(*parsed) == body) << "byte " << at << ", bit " << bit;
    }
    EXPECT_FALSE(ParsePartial(bytes.substr(0, at), "cut").ok()) << at;
  }
  EXPECT_FALSE(ParsePartial(bytes + "x", "longer").ok());
}

// Seeds of the fuzz target, which lead nowhere once the tables of their verbs have changed. Written
// again by this test with BORESCOPE_PARTIAL_CORPUS=fuzz/corpus/partial in the environment.
TEST_F(PartialDamageTest, SeedsAreThoseOfThisProgram) {
  constexpr const char* kVerbs[] = {"breakdown", "counters", "flame",  "gaps",  "inductor",
                                    "kernels",   "memory",   "stacks", "stats", "stragglers"};
  const char* folder = std::getenv("BORESCOPE_PARTIAL_CORPUS");
  for (const std::string verb : kVerbs) {
    const PartialData partial = Map(*FindAnalysis(verb), {});
    if (folder != nullptr) {
      std::ofstream(fs::path(folder) / verb, std::ios::binary) << PartialBody(partial);
      std::ofstream(fs::path(folder) / "sealed", std::ios::binary) << *SerializePartial(partial);
    }
    std::ifstream file(fs::path(BORESCOPE_FUZZ_CORPUS) / "partial" / verb, std::ios::binary);
    const std::string seed{std::istreambuf_iterator<char>(file), {}};
    const Result<PartialData> parsed = ParsePartialBody(seed, verb);
    EXPECT_TRUE(parsed.ok()) << parsed.error().Sentence() << "; write the seeds anew";
  }
}

}  // namespace
}  // namespace borescope::internal::testkit
