// Servers and generations that are planned here, token by token, against what is found of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/inference/generation.h"
#include "borescope/analysis/verbs/inference/inference_steps.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

const Table& TableOf(const Tables& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [name](const Table& table) { return table.name == name; });
  EXPECT_NE(found, tables.end()) << name;
  return found == tables.end() ? tables.front() : *found;
}

bool HasTable(const Tables& tables, std::string_view name) {
  return std::any_of(tables.begin(), tables.end(),
                     [name](const Table& table) { return table.name == name; });
}

// The message of a recording that shows no inference; empty where there is an answer.
std::string Refusal(TestTrace& trace, const Params& params = {}) {
  const Pipeline& answer = kInferenceVerb.answer;
  Result<Tables> mapped = answer.map(trace.View(), params);
  if (!mapped.ok()) {
    return mapped.error().Sentence();
  }
  const Result<Tables> finished = answer.finish(*std::move(mapped), params);
  return finished.ok() ? "" : finished.error().Sentence();
}

int64_t DeviceTime(const Table& table) {
  const IntValues& values = Ints(table, "device_ns");
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

// ---- Names of steps ----

// "phase requests tokens decode_requests/decode_tokens prefill_tokens kv"
std::string Notes(const std::optional<StepNotes>& notes) {
  if (!notes.has_value()) {
    return "none";
  }
  const auto text = [](int64_t value) {
    return value == kMissing ? std::string("-") : std::to_string(value);
  };
  return std::string(InferencePhaseName(notes->phase)) + " " + text(notes->requests) + " " +
         text(notes->tokens) + " " + text(notes->decode_requests) + "/" +
         text(notes->decode_tokens) + " " + text(notes->prefill_tokens) + " " +
         text(notes->kv_tokens);
}

TEST(StepNotesTest, NamesOfServers) {
  const std::pair<std::string_view, std::string_view> names[] = {
      // vLLM
      {"execute_context_2(14721)_generation_0(0)", "prefill 2 14721 0/0 14721 -"},
      {"execute_context_0(0)_generation_64(64)", "decode 64 64 64/64 0 -"},
      {"execute_context_2(6144)_generation_3(3)", "mixed 5 6147 3/3 6144 -"},
      {"execute_context_0(0)_generation_32(128)", "decode 32 128 32/128 0 -"},
      {"execute_context_0(0)_generation_0(0)", "other 0 0 0/0 0 -"},
      {"execute_context_1(888_788544)_generation_0(0)", "prefill 1 888 0/0 888 -"},
      {"execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3"
       "sqsk6144)",
       "mixed 5 6147 3/3 6144 13288"},
      {"execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37",
       "mixed 46 8192 37/37 8155 8430"},
      {"execute_12_context_0(sq0)_generation_2(sq12)", "decode 2 12 2/12 0 -"},
      {"execute_new_3_cached_0", "prefill 3 - 0/0 - -"},
      {"execute_new_0_cached_3", "decode 3 - 3/3 0 -"},
      {"execute_new_1_cached_3", "mixed 4 - 3/3 - -"},
      {"execute_new_0_cached_0", "other 0 - 0/0 0 -"},
      // SGLang
      {"step[EXTEND bs=2 toks=14721]", "prefill 2 14721 0/0 14721 -"},
      {"step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]", "prefill 2 12 0/0 12 20"},
      {"step[DECODE bs=64]", "decode 64 64 64/64 0 -"},
      {"step[DECODE bs=2 g_sqsq=2 g_sqsk=30 g_sk=30]", "decode 2 2 2/2 0 30"},
      {"step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sk=131072]", "decode 64 128 64/128 0 131072"},
      {"step[MIXED bs=2]", "mixed 2 - -/- - -"},
      {"step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 g_sq=1 g_sk=12]", "mixed 2 6 1/1 5 20"},
      {"step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3 g_sq=0 g_sk=0]", "prefill 1 3 0/0 3 3"},
      {"step[TARGET_VERIFY bs=4]", "decode 4 - 4/- 0 -"},
      {"step[DRAFT_EXTEND bs=4]", "other 4 - -/- - -"},
      {"step[IDLE bs=0]", "other 0 - -/- - -"},
      // ATOM
      {"prefill[bs=2 tok=14721 ctx=[7803, 6918]]", "prefill 2 14721 0/0 14721 -"},
      {"prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3 sk=17408]",
       "prefill 6 17408 0/0 17408 17408"},
      {"decode[bs=117/128 tok=117 d=117]", "decode 117 117 117/117 0 -"},
      {"decode[bs=128 tok=384 p=2 d=126 sk=258048 tbo=1]", "mixed 128 384 126/- - 258048"},
      {"eager_decode[bs=3 tok=3 ctx=5]", "decode 3 3 3/3 0 -"},
      // TensorRT-LLM
      {"[Executor] _forward_step 12: 3 ctx reqs, 40 gen reqs", "mixed 43 - 40/40 - -"},
      {"[Executor] _forward_step 7: 0 ctx reqs, 0 ctx tokens, 32 gen reqs",
       "decode 32 32 32/32 0 -"},
      {"executeStep: 1 ctx reqs, 0 gen reqs", "prefill 1 - 0/0 - -"},
      // Names of other things
      {"execute_model", "none"},
      {"execute_new_3", "none"},
      {"execute_new_3_cached_", "none"},
      {"execute_new_3_cached_1_more", "none"},
      {"execute_new_99999999999999999999_cached_1", "none"},
      {"execute_context_2(14721", "none"},
      {"execute_context_99999999999999999999(1)_generation_0(0)", "none"},
      {"step[", "none"},
      {"prefill[0]", "none"},
      {"decode", "none"},
      {"", "none"},
  };
  for (const auto& [name, notes] : names) {
    EXPECT_EQ(Notes(ReadStepName(name)), notes) << name;
  }
}

TEST(StepNotesTest, PatternsOfTheUser) {
  const std::string_view texts[] = {R"(^(?P<phase>\w+) n=(?P<bs>\d+)(?: t=(?P<tokens>\d+))?)",
                                    R"(fill (?P<kv>\d+))"};
  const Result<PhasePatterns> patterns = PhasePatterns::Parse(texts);
  ASSERT_TRUE(patterns.ok());
  EXPECT_EQ(Notes(patterns->Read("Generation n=8")), "decode 8 8 8/8 0 -");
  EXPECT_EQ(Notes(patterns->Read("extend n=2 t=700")), "prefill 2 700 0/0 700 -");
  EXPECT_EQ(Notes(patterns->Read("mixed n=2 t=700")), "mixed 2 700 -/- - -");
  EXPECT_EQ(Notes(patterns->Read("warm n=2")), "other 2 - -/- - -");
  EXPECT_EQ(Notes(patterns->Read("fill 12")), "other - - -/- - 12");
  EXPECT_EQ(Notes(patterns->Read("step")), "none");
  const auto message = [](std::string_view text) {
    const Result<PhasePatterns> read = PhasePatterns::Parse(std::span(&text, 1));
    return read.ok() ? std::string() : read.error().Sentence();
  };
  EXPECT_NE(message("(").find("is not a regular expression"), std::string::npos);
  EXPECT_NE(message("(?P<size>x)").find("groups are phase, bs, tokens and kv"), std::string::npos);
}

// ---- What recurs ----

// Insertions and deletions, by the table of all prefixes.
size_t PlainDistance(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t k = 0; k <= b.size(); ++k) {
      if (i == 0 || k == 0) {
        least[i][k] = i + k;
      } else if (a[i - 1] == b[k - 1]) {
        least[i][k] = least[i - 1][k - 1];
      } else {
        least[i][k] = 1 + std::min(least[i - 1][k], least[i][k - 1]);
      }
    }
  }
  return least[a.size()][b.size()];
}

// The definition of generation.h, word by word.
std::optional<Recurrence> PlainRecurrence(const std::vector<uint32_t>& symbols,
                                          uint32_t preferred) {
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> cuts;  // symbols, by first place
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    auto at = std::find_if(cuts.begin(), cuts.end(),
                           [&](const auto& cut) { return cut.first == symbols[i]; });
    at = at == cuts.end() ? cuts.insert(at, {symbols[i], {}}) : at;
    at->second.push_back(i);
  }
  std::vector<std::pair<size_t, Recurrence>> candidates;  // by occurrences
  const auto add = [&](const std::vector<uint32_t>& begins) {
    if (begins.size() < 3) {
      return;
    }
    std::vector<std::vector<uint32_t>> passes;
    for (size_t i = 0; i < begins.size(); ++i) {
      const size_t end = i + 1 < begins.size() ? begins[i + 1] : symbols.size();
      passes.emplace_back(symbols.begin() + begins[i],
                          symbols.begin() + static_cast<ptrdiff_t>(end));
    }
    const std::vector<std::vector<uint32_t>> whole(passes.begin(), passes.end() - 1);
    std::vector<uint32_t> usual;
    size_t most = 1;
    for (const auto& pass : whole) {
      const auto count = static_cast<size_t>(std::count(whole.begin(), whole.end(), pass));
      if (count > most) {
        usual = pass;
        most = count;
      }
    }
    if (most == 1) {
      std::vector<size_t> lengths;
      lengths.reserve(whole.size());
      for (const auto& pass : whole) {
        lengths.push_back(pass.size());
      }
      std::sort(lengths.begin(), lengths.end());
      usual = *std::find_if(whole.begin(), whole.end(), [&](const auto& pass) {
        return pass.size() == lengths[(lengths.size() - 1) / 2];
      });
    }
    passes.back().resize(std::min(passes.back().size(), usual.size()));
    Recurrence found{begins, {}, usual.size()};
    size_t alike = 0;
    size_t covered = 0;
    for (const auto& pass : passes) {
      found.is_alike.push_back(PlainDistance(pass, usual) <= (usual.size() + 9) / 10 ? 1 : 0);
      alike += found.is_alike.back() != 0 ? 1 : 0;
      covered += found.is_alike.back() != 0 ? pass.size() : 0;
    }
    if (alike >= 2 && covered * 2 >= symbols.size()) {
      candidates.emplace_back(begins.size(), std::move(found));
    }
  };
  std::stable_sort(cuts.begin(), cuts.end(), [&](const auto& a, const auto& b) {
    return std::pair(a.second.size(), a.first != preferred) <
           std::pair(b.second.size(), b.first != preferred);
  });
  for (const auto& [symbol, begins] : cuts) {
    add(begins);
  }
  std::optional<Recurrence> best;
  for (const auto& [count, candidate] : candidates) {
    if (!best.has_value() ||
        (2 * count >= 3 * best->begins.size() && candidate.unlike() <= best->unlike())) {
      best = candidate;
    }
  }
  return best;
}

TEST(RecurrenceTest, DistancesAndCutsAreThoseOfThePlainTwin) {
  std::mt19937 random(7);
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  size_t found_any = 0;
  for (int round = 0; round < 400; ++round) {
    // Passes of a few layers, with some symbols lost, doubled or changed.
    const uint32_t kinds = 2 + number(6);
    std::vector<uint32_t> pass{0};
    const uint32_t layers = 1 + number(4);
    std::vector<uint32_t> layer(1 + number(6));
    for (uint32_t& symbol : layer) {
      symbol = 2 + number(kinds);
    }
    for (uint32_t i = 0; i < layers; ++i) {
      pass.insert(pass.end(), layer.begin(), layer.end());
    }
    pass.push_back(1);
    std::vector<uint32_t> symbols;
    const uint32_t rounds = 1 + number(9);
    for (uint32_t i = 0; i < rounds; ++i) {
      for (const uint32_t symbol : pass) {
        const uint32_t fate = number(30);
        symbols.insert(symbols.end(), fate == 0 ? 0 : fate == 1 ? 2 : 1, symbol);
      }
    }
    std::vector<uint32_t> other = pass;
    std::shuffle(other.begin(), other.end(), random);
    const size_t plain = PlainDistance(pass, other);
    EXPECT_EQ(EditDistance(pass, other, 1000), plain);
    EXPECT_EQ(EditDistance(pass, other, plain), plain);
    if (plain > 0) {
      EXPECT_EQ(EditDistance(pass, other, plain - 1), plain);
    }
    const char preferred[] = {round % 2 == 0 ? '\1' : '\0'};
    const std::optional<Recurrence> found = FindRecurrence(symbols, preferred);
    const std::optional<Recurrence> twin = PlainRecurrence(symbols, round % 2 == 0 ? 0 : 99);
    ASSERT_EQ(found.has_value(), twin.has_value()) << round;
    if (found.has_value()) {
      ++found_any;
      EXPECT_EQ(found->begins, twin->begins) << round;
      EXPECT_EQ(found->is_alike, twin->is_alike) << round;
      EXPECT_EQ(found->length, twin->length) << round;
    }
  }
  EXPECT_GT(found_any, 100U);
}

// A prompt that does more, three tokens, and a step in twelve that does a little else.
TEST(RecurrenceTest, PassesOfAModelAreFoundAndNotItsLayers) {
  std::vector<uint32_t> symbols{90, 91, 92};
  std::vector<uint32_t> begins;
  for (int pass = 0; pass < 13; ++pass) {
    begins.push_back(static_cast<uint32_t>(symbols.size()));
    symbols.insert(symbols.end(), {1, 2, 3, 4});
    symbols.insert(symbols.end(), pass == 0 ? 9 : 0, 50);
    for (int layer = 0; layer < 6; ++layer) {
      symbols.insert(symbols.end(), {10, 11, 12, 10, 11, 13, 14, 10, 15, 16});
    }
    symbols.insert(symbols.end(), pass % 12 == 11 ? 2 : 0, 60);
    symbols.insert(symbols.end(), {5, 6, 7});
  }
  const std::optional<Recurrence> found = FindRecurrence(symbols);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->begins, begins);
  EXPECT_EQ(found->length, 67U);
  EXPECT_EQ(found->unlike(), 1U);
}

// ---- A planned server ----

struct PlannedStep {
  int64_t prefill_requests = 0;
  int64_t prefill_tokens = 0;
  int64_t decode_requests = 0;
  int64_t period_ns = 0;
  int64_t works = 0;
};

// Each step is annotated over its first half; half of its work, as sampling is, is launched behind.
void PlantServer(TestTrace& trace, const std::vector<PlannedStep>& plan) {
  int64_t now = 1000;
  int64_t correlation = 1;
  for (const PlannedStep& step : plan) {
    trace.Annotation("execute_context_" + std::to_string(step.prefill_requests) + "(" +
                         std::to_string(step.prefill_tokens) + ")_generation_" +
                         std::to_string(step.decode_requests) + "(" +
                         std::to_string(step.decode_requests) + ")",
                     {now, step.period_ns / 2});
    for (int64_t i = 0; i < step.works; ++i) {
      const int64_t at = now + i * (step.period_ns / step.works);
      trace.Launched(i % 2 == 0 ? "nvjet_gemm" : "paged_attention", {at, 1}, {at + 5, 7},
                     {correlation++, 7, 0});
    }
    now += step.period_ns;
  }
}

std::string_view PhaseOf(const PlannedStep& step) {
  return step.prefill_requests > 0 ? step.decode_requests > 0 ? "mixed" : "prefill" : "decode";
}

TEST(InferenceTest, TokensAndPeriodsOfAPlannedServerAreExact) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto number = [&](int64_t below) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
    };
    std::vector<PlannedStep> plan;
    const int64_t steps_planned = 3 + number(20);
    for (int64_t i = 0; i < steps_planned; ++i) {
      const int64_t kind = number(3);
      PlannedStep step;
      step.prefill_requests = kind == 0 ? 0 : 1 + number(4);
      step.prefill_tokens = step.prefill_requests * (1 + number(900));
      step.decode_requests = kind == 1 ? 0 : 1 + number(64);
      step.period_ns = 1000 + number(5000);
      step.works = 1 + number(6);
      plan.push_back(step);
    }
    TestTrace trace;
    PlantServer(trace, plan);
    trace.Kernel("before", {0, 11}).Launched("early", {10, 1}, {20, 13}, {900001, 8, 0});
    const Tables tables = Analyse("inference", {&trace.View()});
    const Table& steps = TableOf(tables, "inference_steps");
    ASSERT_EQ(steps.rows(), plan.size());
    std::map<std::string, int64_t> tokens_of;
    int64_t begin_ns = 1000;
    int64_t device_ns = 11 + 13;
    for (size_t i = 0; i < plan.size(); ++i) {
      const PlannedStep& step = plan[i];
      const bool is_last = i + 1 == plan.size();
      EXPECT_EQ(Texts(steps, "phase")[i], PhaseOf(step));
      EXPECT_EQ(Texts(steps, "known_by")[i], "annotation");
      EXPECT_EQ(Ints(steps, "begin_ns")[i], begin_ns);
      EXPECT_EQ(steps.Find("period_ns")->IsMissing(i), is_last);
      EXPECT_EQ(Ints(steps, "period_ns")[i], is_last ? 0 : step.period_ns);
      EXPECT_EQ(Ints(steps, "requests")[i], step.prefill_requests + step.decode_requests);
      EXPECT_EQ(Ints(steps, "tokens")[i], step.prefill_tokens + step.decode_requests);
      EXPECT_EQ(Ints(steps, "works")[i], step.works);
      EXPECT_EQ(Ints(steps, "busy_ns")[i], 7 * step.works);
      tokens_of[std::string(PhaseOf(step))] += step.prefill_tokens + step.decode_requests;
      begin_ns += step.period_ns;
      device_ns += 7 * step.works;
    }
    const Table& phases = TableOf(tables, "inference_phases");
    for (size_t row = 0; row < phases.rows(); ++row) {
      const std::string phase(Texts(phases, "phase")[row]);
      if (!phase.starts_with("(")) {
        EXPECT_EQ(Ints(phases, "tokens")[row], tokens_of[phase]) << phase;
      }
    }
    EXPECT_EQ(DeviceTime(phases), device_ns) << seed;
    EXPECT_EQ(DeviceTime(TableOf(tables, "inference_parts")), device_ns) << seed;
  }
}

TEST(InferenceTest, WhatPhasesSay) {
  TestTrace trace;
  PlantServer(trace, {{0, 0, 8, 1000, 2},
                      {0, 0, 8, 2000, 2},
                      {2, 600, 6, 4000, 4},
                      {0, 0, 8, 1000, 2},
                      {1, 300, 0, 3000, 2},
                      {0, 0, 9, 1000, 2}});
  trace.Kernel("before", {0, 11});
  const Tables tables = Analyse("inference", {&trace.View(2)});
  EXPECT_EQ(Csv(TableOf(tables, "inference_phases"),
                {"rank", "phase", "known_by", "steps", "requests", "tokens", "period_ns",
                 "token_ns", "tokens_per_second", "busy", "idle_ns", "device_ns"}),
            "rank,phase,known_by,steps,requests,tokens,period_ns,token_ns,tokens_per_second,busy,"
            "idle_ns,device_ns\n"
            "2,decode,annotation,4,8,33,1000,1000,6e+06,0.0105,3958,56\n"
            "2,prefill,annotation,1,1,300,3000,-,1e+08,0.00466667,2986,14\n"
            "2,mixed,annotation,1,8,606,4000,-,1.515e+08,0.007,3972,28\n"
            "2,(no launch),-,-,-,-,-,-,-,-,-,11\n");
  // Six requests decode in the mixed step, which takes 3000 ns longer than the median decode step.
  // Of the nine behind the prompt one is new, and eight have waited for 3000 ns.
  EXPECT_EQ(Csv(TableOf(tables, "inference_stalls")),
            "rank,phase,steps,requests,held_ns,waited_ns\n"
            "2,mixed,1,6,3000,18000\n2,prefill,1,8,3000,24000\n");
}

// ---- A host that runs ahead ----

// A program whose host launches the steps as fast as it likes, on some streams of a device that
// works in order on each.
struct AheadProgram {
  struct Work {
    size_t step = 0;  // 0: before the first one
    Span launch{};
    Span device{};
    int64_t stream = 7;
    bool is_copy = false;
  };
  std::vector<int64_t> begins;
  std::vector<Work> works;

  void PlantIn(TestTrace& trace) const {
    for (const int64_t begin_ns : begins) {
      trace.Annotation("execute_context_0(0)_generation_4(4)", {begin_ns, 1});
    }
    int64_t correlation = 1;
    for (const Work& work : works) {
      const On on{correlation++, work.stream, 0};
      if (work.is_copy) {
        trace.Runtime("cudaMemcpyAsync", work.launch, on.correlation)
            .Memcpy("Memcpy DtoH (Device -> Pinned)", work.device, on, 64);
      } else {
        trace.Launched("nvjet_gemm", work.launch, work.device, on);
      }
    }
  }
};

class AheadMaker {
 public:
  explicit AheadMaker(uint32_t seed) : random_(seed) {}

  int64_t Number(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }

  // Leads, gaps, streams and lengths at random; copies on stream 20 may last for many steps.
  AheadProgram Program() {
    AheadProgram program;
    int64_t host_ns = 1000;
    std::map<int64_t, int64_t> free_at;
    const int64_t streams = 1 + Number(3);
    const int64_t device_ns = 1 + Number(300);
    const int64_t waits = Number(3);  // 0: never for the device, 2: in each step
    const int64_t steps = 2 + Number(12);
    const auto launch = [&](size_t step) {
      AheadProgram::Work work{.step = step, .launch = {host_ns, 2}};
      work.is_copy = Number(9) == 0;
      work.stream = work.is_copy ? 20 : 7 + Number(streams);
      int64_t& free_ns = free_at[work.stream];
      const int64_t begin_ns = std::max(host_ns + 3 + Number(20), free_ns + Number(5));
      work.device = {begin_ns, (1 + Number(device_ns)) * (work.is_copy ? 20 : 1)};
      free_ns = begin_ns + work.device.dur_ns;
      program.works.push_back(work);
      host_ns += 3 + Number(50);
    };
    for (int64_t i = Number(4); i > 0; --i) {
      launch(0);
    }
    for (int64_t step = 1; step <= steps; ++step) {
      program.begins.push_back(host_ns);
      host_ns += Number(2) * 10;
      for (int64_t i = Number(7); i > 0; --i) {
        launch(static_cast<size_t>(step));
      }
      if (waits == 2 || (waits == 1 && Number(2) == 0)) {
        host_ns = std::max(host_ns, free_at[7]);
      }
      host_ns += 5 + Number(100);
    }
    return program;
  }

 private:
  std::mt19937 random_;
};

// The definition of inference_steps.h, word by word: nanosecond by nanosecond where it is about
// time.
struct PlainStepTime {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;
};

std::vector<PlainStepTime> PlainStepTimes(const AheadProgram& program) {
  const auto has_kernels = [&](int64_t stream) {
    return std::any_of(program.works.begin(), program.works.end(),
                       [&](const auto& work) { return work.stream == stream && !work.is_copy; });
  };
  // The begin of a step, or the end of all that was launched before it.
  const auto done_before = [&](size_t step) {
    int64_t done_ns = step <= program.begins.size() ? program.begins[step - 1] : 0;
    for (const auto& work : program.works) {
      if (work.step < step && has_kernels(work.stream)) {
        done_ns = std::max(done_ns, work.device.ts_ns + work.device.dur_ns);
      }
    }
    return done_ns;
  };
  std::vector<PlainStepTime> times;
  for (size_t step = 1; step < program.begins.size(); ++step) {
    PlainStepTime& time = times.emplace_back();
    time.begin_ns = done_before(step);
    time.end_ns = done_before(step + 1);
    for (int64_t now = time.begin_ns; now < time.end_ns; ++now) {
      time.busy_ns += std::any_of(program.works.begin(), program.works.end(),
                                  [&](const auto& work) {
                                    return work.step == step && work.device.ts_ns <= now &&
                                           now < work.device.ts_ns + work.device.dur_ns;
                                  })
                          ? 1
                          : 0;
    }
  }
  return times;
}

// A device is never busy for longer than a step takes, whatever the lead of the host, and the times
// of steps follow each other.
TEST(InferenceTest, StepsOfAHostThatRunsAheadAreThoseOfThePlainTwin) {
  int64_t ahead = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const AheadProgram program = AheadMaker(seed).Program();
    TestTrace trace;
    program.PlantIn(trace);
    const Tables tables = Analyse("inference", {&trace.View()});
    const Table& steps = TableOf(tables, "inference_steps");
    const std::vector<PlainStepTime> plain = PlainStepTimes(program);
    ASSERT_EQ(steps.rows(), plain.size() + 1) << seed;
    int64_t periods_ns = 0;
    for (size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(Ints(steps, "period_ns")[i], plain[i].end_ns - plain[i].begin_ns) << seed;
      EXPECT_EQ(Ints(steps, "busy_ns")[i], plain[i].busy_ns) << seed;
      EXPECT_LE(Ints(steps, "busy_ns")[i], Ints(steps, "period_ns")[i]) << seed;
      periods_ns += Ints(steps, "period_ns")[i];
      ahead += plain[i].end_ns > program.begins[i + 1] ? 1 : 0;
    }
    EXPECT_TRUE(steps.Find("period_ns")->IsMissing(plain.size()));
    EXPECT_EQ(periods_ns, plain.back().end_ns - plain.front().begin_ns) << seed;
    const Table& phases = TableOf(tables, "inference_phases");
    if (!phases.Find("busy")->IsMissing(0)) {
      EXPECT_LE(Floats(phases, "busy")[0], 1.0) << seed;
      EXPECT_GE(Ints(phases, "idle_ns")[0], 0) << seed;
    }
  }
  EXPECT_GT(ahead, 300);
}

// A prompt of 1000 ns and tokens of 300 ns of device time, which a host launches in 10 ns each: the
// periods are those of the device, however far the host is ahead.
TEST(InferenceTest, PeriodsOfAHostThatRunsAheadAreThoseOfTheDevice) {
  TestTrace trace;
  int64_t free_ns = 50;
  for (int64_t step = 0; step < 6; ++step) {
    const int64_t begin_ns = 10 * step;
    trace.Annotation(step == 0 ? "execute_context_1(256)_generation_0(0)"
                               : "execute_context_0(0)_generation_4(4)",
                     {begin_ns, 8});
    const int64_t work_ns = step == 0 ? 1000 : 300;
    trace.Launched("nvjet_gemm", {begin_ns + 1, 2}, {free_ns, work_ns}, {step + 1, 7, 0});
    free_ns += work_ns;
  }
  EXPECT_EQ(
      Csv(TableOf(Analyse("inference", {&trace.View()}), "inference_phases"),
          {"phase", "steps", "period_ns", "token_ns", "tokens_per_second", "busy", "idle_ns"}),
      "phase,steps,period_ns,token_ns,tokens_per_second,busy,idle_ns\n"
      "decode,5,300,300,1.33333e+07,1,0\n"
      "prefill,1,1050,-,2.4381e+08,0.952381,50\n");
}

// Work that was launched before the recording holds the first step up, and is not its time.
TEST(InferenceTest, WorkFromBeforeTheRecordingIsNoTimeOfTheFirstStep) {
  TestTrace trace;
  trace.Kernel("nvjet_gemm", {0, 500}, {1, 7, 0});
  for (int64_t step = 0; step < 3; ++step) {
    trace.Annotation("step[DECODE bs=4]", {10 + 10 * step, 8});
    trace.Launched("nvjet_gemm", {12 + 10 * step, 2}, {500 + 100 * step, 100}, {100 + step, 7, 0});
  }
  EXPECT_EQ(Csv(TableOf(Analyse("inference", {&trace.View()}), "inference_steps"),
                {"step", "period_ns", "busy_ns"}),
            "step,period_ns,busy_ns\n0,100,100\n1,100,100\n2,-,100\n");
}

// vLLM's names that hold no tokens: how long a token takes is known, and how many there are is not.
TEST(InferenceTest, StepsThatCountRequestsAloneHaveNoTokens) {
  TestTrace trace;
  int64_t now_ns = 0;
  for (const std::string_view name : {"execute_new_3_cached_0", "execute_new_0_cached_3",
                                      "execute_new_1_cached_3", "execute_new_0_cached_4"}) {
    trace.Annotation(name, {now_ns, 50});
    trace.Launched("nvjet_gemm", {now_ns + 5, 2}, {now_ns + 10, 20}, {now_ns + 1, 7, 0});
    now_ns += 100;
  }
  EXPECT_EQ(Csv(TableOf(Analyse("inference", {&trace.View()}), "inference_phases"),
                {"phase", "steps", "requests", "tokens", "token_ns", "tokens_per_second"}),
            "phase,steps,requests,tokens,token_ns,tokens_per_second\n"
            "decode,2,3.5,-,100,-\nprefill,1,3,-,-,-\nmixed,1,4,-,-,-\n");
}

// Drafted tokens are no output: how many are right is not recorded.
TEST(InferenceTest, StepsThatCheckDraftsHaveNoRate) {
  TestTrace trace;
  trace.Annotation("step[TARGET_VERIFY bs=4]", {0, 50}).Annotation("step[IDLE bs=0]", {10, 5});
  trace.Annotation("step[TARGET_VERIFY bs=4]", {100, 50});
  trace.Launched("a", {20, 1}, {30, 5}, {1, 7, 0});
  EXPECT_EQ(
      Csv(TableOf(Analyse("inference", {&trace.View()}), "inference_phases"),
          {"phase", "steps", "requests", "tokens", "period_ns", "token_ns", "tokens_per_second"}),
      "phase,steps,requests,tokens,period_ns,token_ns,tokens_per_second\n"
      "decode,2,4,-,100,-,-\n");
}

TEST(InferenceTest, PatternsReplaceNames) {
  TestTrace trace;
  trace.Annotation("step[DECODE bs=4]", {0, 50}).Annotation("decode of 3", {100, 50});
  trace.Launched("a", {120, 1}, {130, 5}, {1, 7, 0});
  Params params;
  params.values.push_back({.name = "phase-pattern",
                           .text = R"(^(?P<phase>decode) of (?P<bs>\d+)$)",
                           .type = ParamType::kTexts});
  EXPECT_EQ(Csv(TableOf(Analyse("inference", {&trace.View()}, params), "inference_steps"),
                {"phase", "known_by", "requests"}),
            "phase,known_by,requests\ndecode,pattern,3\n");
  params.values.front().text = "nothing";
  EXPECT_NE(Refusal(trace, params).find("no annotation has a name that `phase_pattern` matches"),
            std::string::npos);
}

// Work of one process is in no step of another one; parts by name and by operator.
TEST(InferenceTest, PartsOfExpertsAndSampling) {
  TestTrace trace;
  trace.Annotation("step[DECODE bs=4]", {0, 500});
  trace.Op("vllm::moe_forward", {10, 20}).Launched("nvjet_1", {15, 2}, {20, 10}, {1, 7, 0});
  trace.Op("aten::argmax", {40, 20}).Launched("reduce_x", {45, 2}, {50, 9}, {2, 7, 0});
  trace.Launched("fused_moe_kernel", {70, 2}, {75, 8}, {3, 7, 0});
  trace.Launched("ncclDevKernel_AllReduce", {80, 2}, {90, 7}, {4, 7, 0});
  trace.Launched("nvjet_2", {100, 2}, {110, 6}, {5, 7, 0});
  trace.Launched("flash_fwd_splitkv_kernel", {120, 2}, {130, 5}, {6, 7, 0});
  EXPECT_EQ(Csv(TableOf(Analyse("inference", {&trace.View()}), "inference_parts"),
                {"phase", "part", "works", "device_ns"}),
            "phase,part,works,device_ns\ndecode,moe,2,18\ndecode,sampling,1,9\n"
            "decode,communication,1,7\ndecode,gemm,1,6\ndecode,attention,1,5\n");
}

// ---- A planned generation ----

struct PlannedGeneration {
  int64_t batch = 2;
  int64_t prompt = 100;
  int64_t tokens = 5;
  bool has_cache = true;  // keys and values grow; else each pass is like the one before
  bool has_shapes = true;
  int64_t positions = 1;  // of passes behind the prompt
};

std::string Dims(std::initializer_list<int64_t> dims) {
  std::string text = "[";
  for (const int64_t dim : dims) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  }
  return text + "]";
}

// Events of one thread, one after another.
class Writer {
 public:
  Writer(TestTrace& trace, bool has_shapes) : trace_(trace), has_shapes_(has_shapes) {}

  void Op(std::string_view name, const std::string& dims, int64_t device_ns = 10) {
    trace_.Op(name, {now_, 8}, {.dims = has_shapes_ ? "[" + dims + "]" : ""});
    trace_.Launched("kernel of " + std::string(name), {now_ + 2, 2}, {now_ + 5, device_ns},
                    {correlation_++, 7, 0});
    now_ += 20;
  }
  void Wait(int64_t ns) { now_ += ns; }
  int64_t now() const { return now_; }

 private:
  TestTrace& trace_;
  bool has_shapes_;
  int64_t now_ = 1000;
  int64_t correlation_ = 1;
};

// The begins of the passes.
std::vector<int64_t> PlantGeneration(Writer& writer, const PlannedGeneration& plan) {
  std::vector<int64_t> begins;
  writer.Op("aten::ones", "[]");
  for (int64_t token = 0; token < plan.tokens; ++token) {
    const int64_t positions = token == 0 ? plan.prompt : plan.positions;
    const int64_t keys = plan.has_cache ? plan.prompt + token : positions;
    begins.push_back(writer.now());
    writer.Op("aten::embedding", Dims({32000, 64}) + ", " + Dims({plan.batch, positions}));
    for (int layer = 0; layer < 4; ++layer) {
      writer.Op("aten::rms_norm", Dims({plan.batch, positions, 64}));
      writer.Op("aten::linear", Dims({plan.batch, positions, 64}) + ", " + Dims({64, 64}));
      if (token == 3 && layer == 1) {
        writer.Op("aten::clone", Dims({plan.batch, 4, keys, 16}));  // a cache that moves
      }
      writer.Op("aten::scaled_dot_product_attention",
                Dims({plan.batch, 4, positions, 16}) + ", " + Dims({plan.batch, 4, keys, 16}));
      writer.Op("aten::linear", Dims({plan.batch, positions, 64}) + ", " + Dims({64, 64}));
    }
    writer.Op("aten::linear", Dims({plan.batch, 1, 64}) + ", " + Dims({32000, 64}));
    writer.Op("aten::argmax", Dims({plan.batch, 32000}));
  }
  return begins;
}

TEST(InferenceTest, PassesAndTokensOfPlannedGenerationsAreExact) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto number = [&](int64_t below) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
    };
    TestTrace trace;
    Writer writer(trace, true);
    std::vector<PlannedGeneration> plans;
    std::vector<std::vector<int64_t>> begins;
    const int64_t calls = 1 + number(3);
    for (int64_t call = 0; call < calls; ++call) {
      plans.push_back({1 + number(8), 2 + number(500), 5 + number(9)});
      begins.push_back(PlantGeneration(writer, plans.back()));
      writer.Wait(number(5000));
    }
    const Tables tables = Analyse("inference", {&trace.View()});
    const Table& steps = TableOf(tables, "inference_steps");
    size_t row = 0;
    for (size_t call = 0; call < plans.size(); ++call) {
      const PlannedGeneration& plan = plans[call];
      for (size_t pass = 0; pass < begins[call].size(); ++pass, ++row) {
        ASSERT_LT(row, steps.rows()) << seed;
        const int64_t keys = plan.prompt + static_cast<int64_t>(pass);
        EXPECT_EQ(Texts(steps, "phase")[row], pass == 0 ? "prefill" : "decode") << seed;
        EXPECT_EQ(Texts(steps, "known_by")[row], "sequence");
        EXPECT_EQ(Ints(steps, "begin_ns")[row], begins[call][pass]) << seed;
        EXPECT_EQ(Ints(steps, "requests")[row], plan.batch);
        EXPECT_EQ(Ints(steps, "tokens")[row], pass == 0 ? plan.batch * plan.prompt : plan.batch);
        EXPECT_EQ(Ints(steps, "kv_tokens")[row], plan.batch * keys);
        // What follows the last token is the program's.
        const bool is_last = pass + 1 == begins[call].size();
        EXPECT_EQ(steps.Find("period_ns")->IsMissing(row), is_last) << seed;
        EXPECT_EQ(Ints(steps, "period_ns")[row],
                  is_last ? 0 : begins[call][pass + 1] - begins[call][pass]);
      }
    }
    EXPECT_EQ(row, steps.rows()) << seed;
    EXPECT_FALSE(HasTable(tables, "inference_stalls"));
  }
}

std::string RefusalOf(const PlannedGeneration& plan) {
  TestTrace trace;
  Writer writer(trace, plan.has_shapes);
  PlantGeneration(writer, plan);
  return Refusal(trace);
}

TEST(InferenceTest, WhatRecursIsNotAlwaysAGeneration) {
  EXPECT_EQ(RefusalOf({}), "");
  // An evaluation: every pass reads all positions.
  EXPECT_NE(RefusalOf({.has_cache = false, .positions = 100}).find("none for single tokens"),
            std::string::npos);
  EXPECT_NE(RefusalOf({.has_shapes = false}).find("no shapes of attention"), std::string::npos);
  TestTrace few;
  few.Launched("a", {0, 1}, {5, 5}, {1, 7, 0}).Launched("b", {10, 1}, {15, 5}, {2, 7, 0});
  EXPECT_NE(Refusal(few).find("no pass of a model recurs"), std::string::npos);
}

// A model over single positions, as one with a state, is a generation if it chooses tokens; else
// nothing says that one came between.
TEST(InferenceTest, SinglePositionsAloneAreNoTokens) {
  const auto refusal = [](bool chooses) {
    TestTrace trace;
    Writer writer(trace, true);
    for (int pass = 0; pass < 6; ++pass) {
      writer.Op("aten::embedding", Dims({100, 8}) + ", " + Dims({4, 1}));
      writer.Op("aten::lstm", Dims({4, 1, 8}));
      writer.Op(chooses ? "aten::argmax" : "aten::sigmoid", Dims({4, 100}));
    }
    return Refusal(trace);
  };
  EXPECT_EQ(refusal(true), "");
  EXPECT_NE(refusal(false).find("nothing in them grows by a token"), std::string::npos);
}

// Without shapes frames of Python show the calls, and the passes follow.
TEST(InferenceTest, FramesOfGenerateTellPassesWithoutShapes) {
  TestTrace trace;
  Writer writer(trace, false);
  for (int call = 0; call < 2; ++call) {
    const int64_t begin_ns = writer.now();
    PlantGeneration(writer, {});
    trace.Python("transformers/generation/utils.py(2394): generate",
                 {begin_ns - 10, writer.now() - begin_ns + 20});
    writer.Wait(10000);
  }
  const Tables tables = Analyse("inference", {&trace.View()});
  EXPECT_EQ(Csv(tables.front(), {"phase", "known_by", "steps", "requests", "tokens", "period_ns"}),
            "phase,known_by,steps,requests,tokens,period_ns\n"
            "decode,sequence,8,-,-,380\nprefill,sequence,2,-,-,380\n(no step),-,-,-,-,-\n");
}

// A recording that begins within a pass: what is left of that is none.
TEST(InferenceTest, APassThatBeganBeforeTheRecordingIsNone) {
  TestTrace trace;
  Writer writer(trace, true);
  writer.Op("aten::linear", Dims({2, 1, 64}) + ", " + Dims({64, 64}));
  writer.Op("aten::scaled_dot_product_attention", Dims({2, 4, 1, 16}) + ", " + Dims({2, 4, 8, 16}));
  for (int64_t token = 0; token < 6; ++token) {
    writer.Op("aten::embedding", Dims({32000, 64}) + ", " + Dims({2, 1}));
    writer.Op("aten::scaled_dot_product_attention",
              Dims({2, 4, 1, 16}) + ", " + Dims({2, 4, 9 + token, 16}));
    writer.Op("aten::argmax", Dims({2, 32000}));
  }
  EXPECT_EQ(Csv(Analyse("inference", {&trace.View()}).front(), {"phase", "steps", "period_ns"}),
            "phase,steps,period_ns\ndecode,6,60\n(no step),-,-\n");
}

TEST(InferenceTest, TrainingIsNeverInference) {
  for (const std::string_view name :
       {"autograd::engine::evaluate_function: MmBackward0", "Optimizer.step#AdamW.step"}) {
    TestTrace trace;
    Writer writer(trace, true);
    PlantGeneration(writer, {});
    trace.Op(name, {writer.now(), 5});
    EXPECT_NE(Refusal(trace).find("this is training"), std::string::npos) << name;
  }
}

// Decode steps that are one graph each, and token ids that grow.
TEST(InferenceTest, TokenIdsThatGrowShowDecodeWithoutAttention) {
  TestTrace trace;
  Writer writer(trace, true);
  for (int64_t pass = 0; pass < 6; ++pass) {
    writer.Op("Torch-Compiled Region: " + std::string(pass == 0 ? "0" : "1"), "[]", 50);
    writer.Op("aten::argmax", Dims({3, 32000}));
    writer.Op("aten::cat", "[" + Dims({3, 40 + pass}) + ", " + Dims({3, 1}) + "], []");
  }
  EXPECT_EQ(Csv(TableOf(Analyse("inference", {&trace.View()}), "inference_phases"),
                {"phase", "steps", "requests", "tokens"}),
            "phase,steps,requests,tokens\ndecode,5,3,15\nprefill,1,3,120\n");
}

void PlantGraphs(TestTrace& trace, std::string_view kernel, int64_t launches) {
  for (int64_t i = 0; i < launches; ++i) {
    const int64_t at = 1000 * i;
    trace.Runtime("cudaGraphLaunch", {at, 20}, i + 1);
    trace.Kernel("nvjet_gemm", {at + 30, 100}, {i + 1, 7, 0});
    trace.Kernel(kernel, {at + 140, 50}, {i + 1, 7, 0});
    trace.Launched("sampler", {at + 200, 5}, {at + 210, 10}, {100 + i, 7, 0});
  }
}

TEST(InferenceTest, GraphsThatReadACacheAreInferredToDecode) {
  TestTrace trace;
  PlantGraphs(trace, "flash_fwd_splitkv_kernel", 4);
  const Tables tables = Analyse("inference", {&trace.View()});
  EXPECT_EQ(Csv(tables.front(), {"phase", "known_by", "steps", "requests", "tokens", "period_ns",
                                 "busy", "device_ns", "graph"}),
            "phase,known_by,steps,requests,tokens,period_ns,busy,device_ns,graph\n"
            "decode,graph,4,-,-,1000,0.15,600,1\n(no step),-,-,-,-,-,-,40,0\n");
  EXPECT_NE(tables.front().title.find("inferred"), std::string::npos);
  TestTrace few;
  PlantGraphs(few, "flash_fwd_splitkv_kernel", 2);
  EXPECT_NE(Refusal(few), "");
  TestTrace other;
  PlantGraphs(other, "flash_fwd_kernel", 4);
  EXPECT_NE(Refusal(other), "");
  TestTrace training;
  PlantGraphs(training, "flash_fwd_splitkv_kernel", 4);
  training.Op("Optimizer.step#Adam.step", {5000, 5});
  EXPECT_NE(Refusal(training), "");
}

// ---- Several ranks ----

TEST(InferenceTest, ExpertsOfRanksThatExchangeUnequally) {
  TestTrace ranks[2];
  for (int64_t rank = 0; rank < 2; ++rank) {
    TestTrace& trace = ranks[rank];
    trace.Annotation("step[DECODE bs=4]", {0, 50});
    trace.Runtime("cudaLaunchKernel", {10, 2}, 1);
    trace.Kernel("ncclDevKernel_SendRecv", {20, 5}, {1, 7, 0},
                 {.name = "all_to_allv", .in_elems = 100, .out_elems = rank == 0 ? 300 : 50});
    trace.Runtime("cudaLaunchKernel", {20, 2}, 2);
    trace.Kernel("ncclDevKernel_SendRecv", {30, 5}, {2, 7, 0},
                 {.name = "all_to_allv", .in_elems = 70, .out_elems = 70});
  }
  EXPECT_EQ(Csv(TableOf(Analyse("inference", {&ranks[0].View(0), &ranks[1].View(1)}),
                        "inference_experts")),
            "rank,exchanges,sent,received,load\n0,1,100,300,1.71429\n1,1,100,50,0.285714\n");
}

}  // namespace
}  // namespace borescope::internal
