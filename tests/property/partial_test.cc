// The law of partials: ranks that are mapped apart, carried as bytes, merged in any tree and
// reduced give the answer of one process that maps them all, to the last bit. For every analysis,
// in every mode, over a run with whatever a folder may hold.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/analyse_bytes.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/writer.h"
#include "tests/oracle/random.h"
#include "tests/property/synthetic.h"
#include "tests/support/scenario.h"

namespace borescope::internal::testkit {
namespace {

namespace fs = std::filesystem;

// What a process answers, to the last bit.
struct Said {
  std::string error;
  std::string json;
  std::vector<std::string> tables;  // every cell and every word of each
  std::vector<std::string> files;

  bool operator==(const Said&) const = default;
};

std::string BitsOf(const Table& table) {
  PartialFile file;
  file.path = "table";
  file.outcomes.push_back({std::nullopt, {table}});
  return FileBytes(file);
}

Said SaidBy(const Result<AnswerData>& answer) {
  Said said;
  if (!answer.ok()) {
    said.error = answer.error().Sentence();
    return said;
  }
  StringSink sink;
  EXPECT_TRUE(FindTableWriter("json")->write(answer->document, {}, sink).ok());
  said.json = sink.text();
  for (const Table& table : answer->document.tables) {
    said.tables.push_back(BitsOf(table));
  }
  for (const FileInfo& file : answer->files) {
    said.files.push_back(file.path + " " + std::to_string(file.rank) + " " +
                         std::to_string(file.events) + " " + std::to_string(file.begin_ns) + " " +
                         (file.skipped ? "skipped " : "") + file.error);
  }
  return said;
}

void Write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::map<int, std::string> RanksOfScenario(uint64_t seed, int ranks) {
  scenario::ScenarioConfig config;
  config.ranks = ranks;
  config.world_size = 8;
  config.steps = 2;
  config.seed = seed;
  config.layers = 1;
  config.with_stack = config.with_shapes = config.with_memory = config.cuda_graph = true;
  std::map<int, std::string> texts;
  const auto open = [&](const scenario::RankInfo& info) {
    return std::make_unique<scenario::StringSink>(&texts[static_cast<int>(info.rank)]);
  };
  EXPECT_TRUE(scenario::RunScenario(config, open).is_ok);
  return texts;
}

// A folder with ranks, one that is cut, one without a number, one whose number is another's, one
// of hardware counters, one that is empty, and one that is no trace.
class PartialTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = (fs::temp_directory_path() / "borescope_partial_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::create_directory(folder_ / "run");
    fs::create_directory(folder_ / "cache");
    const std::map<int, std::string> ranks = RanksOfScenario(1, 5);
    for (const auto& [rank, text] : ranks) {
      Put("rank-" + std::to_string(rank), text);
    }
    Put("rank-5", ranks.at(4).substr(0, ranks.at(4).size() / 2));
    Put("rank-6", "");
    Put("rank-7", RanksOfScenario(2, 3).at(2));
    Put("rank-10", Read(fs::path(BORESCOPE_FUZZ_CORPUS) / "kineto/counters_and_memory.json"));
    Put("unnamed", Synthetic(Writer::kOneLine).Text());
    Write(folder_ / "run/README.md", "no trace\n");
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static void Put(const std::string& name, const std::string& text) {
    Write(folder_ / "run" / (name + ".json"), text);
  }

  static RunOptions Options(const Params& params) {
    RunOptions options;
    options.files = ExpandInputs(std::vector{(folder_ / "run").string()}).value();
    options.params = params;
    options.threads = 2;
    PutFiles(options.params);
    return options;
  }

  // What options name must be there.
  static void PutFiles(Params& params) {
    for (ParamValue& value : params.values) {
      if (value.type == ParamType::kFile) {
        value.text = (folder_ / (std::string(value.name) + ".json")).string();
        Write(value.text, value.content);
      } else if (value.type == ParamType::kFolder) {
        value.text = (folder_ / "cache").string();
      }
    }
  }

  static inline fs::path folder_;
};

using Specs = std::vector<const AnalysisSpec*>;

PartialData Carry(const PartialData& partial) {
  const Result<std::string> bytes = SerializePartial(partial);
  EXPECT_TRUE(bytes.ok());
  Result<PartialData> parsed = ParsePartial(*bytes, "carried");
  EXPECT_TRUE(parsed.ok()) << parsed.error().Sentence();
  if (!parsed.ok()) return partial;
  EXPECT_EQ(*bytes, *SerializePartial(*parsed));
  return std::move(*parsed);
}

// Each file mapped by a process of its own.
std::vector<PartialData> MapEach(const Specs& specs, const RunOptions& options) {
  std::vector<PartialData> partials;
  for (const InputFile& file : options.files) {
    RunOptions one = options;
    one.files = {file};
    one.threads = 1;
    Result<PartialData> mapped = MapPartial(specs, one);
    EXPECT_TRUE(mapped.ok()) << mapped.error().Sentence();
    partials.push_back(std::move(*mapped));
  }
  return partials;
}

std::vector<PartialData> Shuffled(std::vector<PartialData> partials, Random& random) {
  for (size_t i = partials.size(); i > 1; --i) {
    std::swap(partials[i - 1], partials[random.Below(i)]);
  }
  return partials;
}

// Merges some of the last partials into one, until at most `most` are left.
std::vector<PartialData> MergedInATree(std::vector<PartialData> partials, size_t most,
                                       Random& random) {
  while (partials.size() > most) {
    partials = Shuffled(std::move(partials), random);
    std::vector<PartialData> some;
    const size_t count = 2 + random.Below(std::min<size_t>(3, partials.size() - 1));
    for (size_t i = 0; i < count && !partials.empty(); ++i) {
      some.push_back(std::move(partials.back()));
      partials.pop_back();
    }
    Result<PartialData> merged = MergePartials(std::move(some));
    EXPECT_TRUE(merged.ok()) << merged.error().Sentence();
    partials.push_back(random.Chance(0.5) ? Carry(*merged) : std::move(*merged));
  }
  return Shuffled(std::move(partials), random);
}

void ExpectSame(const Specs& specs, const RunOptions& options, const Said& direct,
                const std::vector<PartialData>& partials) {
  // All at once, and folded two by two: a few ranks are not enough for a fold otherwise.
  for (const size_t fan_in : {TableFold::kFanIn, size_t{2}}) {
    PartsInMemory source{std::span<const PartialData>(partials)};
    const Said joined = SaidBy(ReducePartials(source, options, {std::nullopt, fan_in}));
    EXPECT_EQ(direct.error, joined.error);
    EXPECT_EQ(direct.json, joined.json);
    EXPECT_TRUE(direct == joined) << specs.front()->name << ", " << fan_in;
  }
}

// The same of partials that are read when they are needed.
void ExpectSameOfStored(const RunOptions& options, const Said& direct,
                        const std::vector<PartialData>& partials) {
  std::vector<std::string> bytes;
  std::vector<StoredPart> stored;
  for (const PartialData& partial : partials) {
    bytes.push_back(SerializePartial(partial).value());
  }
  for (const std::string& one : bytes) {
    stored.push_back({"stored", one});
  }
  StoredParts source(stored);
  EXPECT_TRUE(direct == SaidBy(ReducePartials(source, options, {std::nullopt, 3})));
}

// One question: direct, in splits of several kinds, and with a partial that is delivered twice.
// What the direct way says.
Said CheckQuestion(const Specs& specs, const RunOptions& options, uint64_t seed) {
  const Said direct = SaidBy(RunAnalyses(specs, options));
  std::vector<PartialData> each = MapEach(specs, options);
  for (PartialData& partial : each) {
    partial = Carry(partial);
  }
  Result<PartialData> whole = MapPartial(specs, options);
  EXPECT_TRUE(whole.ok()) << whole.error().Sentence();
  EXPECT_EQ(PartialBody(*whole), PartialBody(*MergePartials(each)));
  Random random(seed);
  ExpectSame(specs, options, direct, each);
  ExpectSameOfStored(options, direct, each);
  const size_t most = 1 + random.Below(8);
  ExpectSame(specs, options, direct, MergedInATree(each, most, random));
  each.push_back(random.Pick(each));
  ExpectSame(specs, options, direct, MergedInATree(each, 1, random));
  return direct;
}

TEST_F(PartialTest, EveryAnalysisInEveryModeAnswersAsOneProcess) {
  uint64_t seed = 1;
  for (const AnalysisSpec* spec : Analyses()) {
    if (spec->takes_two()) {
      continue;
    }
    for (const Params& params : AllModes(*spec)) {
      SCOPED_TRACE(std::string(spec->name) + ", seed " + std::to_string(seed));
      const std::string error = CheckQuestion({spec}, Options(params), seed++).error;
      // The run has no stacks for --sampled and --calls, no such step, and no inference; that is
      // the same error either way.
      EXPECT_TRUE(error.empty() || error.find("no sampled call stacks") != std::string::npos ||
                  error.find("no call stacks were recorded") != std::string::npos ||
                  error.find("`plain_step`") != std::string::npos ||
                  error.find("no phases of inference") != std::string::npos ||
                  error.find("`without_recording`") != std::string::npos)
          << error;
    }
  }
}

TEST_F(PartialTest, PartsOfARunToo) {
  uint64_t seed = 1000;
  for (const AnalysisSpec* spec : Analyses()) {
    if (spec->takes_two()) {
      continue;
    }
    RunOptions options = Options({});
    options.ranks = NumberRanges::Parse(seed % 2 == 0 ? "1..3,99" : "4..7").value();
    if (spec->takes_selection) {
      options.params.selection.steps = NumberRanges::Parse("0..1,77").value();
      Params of_time = options.params;
      of_time.selection.range = TimeRange::Parse("10%", "90%").value();
      options.params = CheckOptions(*spec, of_time).ok() ? of_time : options.params;
      Params of_devices = options.params;
      of_devices.selection.gpus = NumberRanges::Parse("0..9").value();
      options.params = CheckOptions(*spec, of_devices).ok() ? of_devices : options.params;
    }
    SCOPED_TRACE(std::string(spec->name) + ", seed " + std::to_string(seed));
    CheckQuestion({spec}, options, seed++);
  }
}

TEST_F(PartialTest, SeveralVerbsInOnePartial) {
  const Specs specs = {FindAnalysis("kernels"), FindAnalysis("counters"), FindAnalysis("gaps"),
                       FindAnalysis("memory")};
  RunOptions options = Options({});
  options.sort = "rank";
  options.top = 3;
  options.for_picture = true;
  CheckQuestion(specs, options, 1);
}

// The verb that compares two runs has a reduce, too, and no partial of its own.
TEST_F(PartialTest, SumsOfAComparisonAreTheSameInAnySplit) {
  const AnalysisSpec& spec = *FindAnalysis("diff");
  const Specs specs = {&spec};
  for (const Params& params : AllModes(spec)) {
    const RunOptions options = Options(params);
    const RunRequest request{specs, options.files, options.ranks, options.params, options};
    Result<MappedRun> run = MapRun(request);
    ASSERT_TRUE(run.ok());
    MissingByRank lacks;
    const Result<Tables> direct = ReduceOne(spec, 0, options.params, *run, lacks);
    ASSERT_TRUE(direct.ok());
    Result<MappedRun> again = MapRun(request);
    std::vector<Tables> halves(2);
    for (size_t half = 0; half < 2; ++half) {
      std::vector<Tables> some;
      for (size_t i = half; i < again->selected.size(); i += 2) {
        some.push_back(again->selected[i]->outcomes[0].tables);
      }
      std::erase_if(some, [](const Tables& tables) { return tables.empty(); });
      halves[half] = spec.PipelineFor(params).reduce(some, params).value();
    }
    const Tables joined = spec.PipelineFor(params).reduce(halves, params).value();
    ASSERT_EQ(direct->size(), joined.size());
    for (size_t i = 0; i < joined.size(); ++i) {
      EXPECT_EQ(BitsOf((*direct)[i]), BitsOf(joined[i]));
    }
  }
}

}  // namespace
}  // namespace borescope::internal::testkit
