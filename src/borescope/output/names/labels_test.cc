#include "borescope/output/names/labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

// Slow twin: what each has in common with every other.
Branches BranchesByPairs(const std::vector<std::string>& texts, size_t i) {
  std::set<uint32_t> places;
  for (size_t j = 0; j < texts.size(); ++j) {
    if (j != i) {
      const auto ends =
          std::mismatch(texts[i].begin(), texts[i].end(), texts[j].begin(), texts[j].end());
      places.insert(static_cast<uint32_t>(ends.first - texts[i].begin()));
    }
  }
  return {places.begin(), places.end()};
}

TEST(FindBranches, AreWhereAnyOtherTextGoesOnDifferently) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::set<std::string> sorted;
    for (size_t count = 1 + random() % 12; count > 0; --count) {
      std::string text;
      for (size_t length = random() % 8; length > 0; --length) {
        text += random() % 2 == 0 ? 'a' : 'b';
      }
      sorted.insert(text);
    }
    const std::vector<std::string> texts(sorted.begin(), sorted.end());
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const std::vector<Branches> found = FindBranches(views);
    for (size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(found[i], BranchesByPairs(texts, i)) << texts[i];
    }
  }
}

TEST(FindBranches, OfManyKeepsTheFirstAndTheLast) {
  std::vector<std::string> texts;
  texts.reserve(100);
  for (size_t i = 0; i < 100; ++i) {
    texts.emplace_back(i, 'a');
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const Branches last = FindBranches(views).back();
  EXPECT_EQ(last.front(), 0U);
  EXPECT_EQ(last.back(), 98U);
  EXPECT_LE(last.size(), 16U);
}

using Names = std::vector<std::string>;

std::string Without(std::string text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
  return text;
}

// Whether all bytes of `label` but its marks are in `name`, in order.
bool IsTakenFrom(const std::string& label, std::string_view name) {
  for (const char c : Without(label, "…")) {
    const size_t at = name.find(c);
    if (at == std::string_view::npos) {
      return false;
    }
    name.remove_prefix(at + 1);
  }
  return true;
}

// Slow twin of the promise: all pairs.
void ExpectApart(const Names& names, const Names& labels) {
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_EQ(names[i] == names[j], labels[i] == labels[j]) << names[i] << "\n" << names[j];
    }
  }
}

std::string LabelOf(const std::string& name, size_t cells) {
  return LabelNames(std::vector{name}, cells).texts.front();
}

TEST(LabelNames, NamesThatFitAreTheirOwnLabels) {
  const Names names{"void f(int)", "void f(float)", "ncclDevKernel_AllReduce_Sum_bf16"};
  EXPECT_EQ(LabelNames(names, 40).texts, names);
  EXPECT_TRUE(LabelNames(Names{}, 40).texts.empty());
}

TEST(LabelNames, ParametersGoFirstThenNamespacesAndReturnTypes) {
  const std::string name = "void at::native::fill_kernel<float>(at::TensorIteratorBase&, float)";
  EXPECT_EQ(LabelOf(name, 40), "at::native::fill_kernel<float>");
  EXPECT_EQ(LabelOf(name, 24), "fill_kernel<float>");
  EXPECT_EQ(LabelOf("void (anonymous namespace)::softmax_warp_forward<float>(float*)", 30),
            "softmax_warp_forward<float>");
  EXPECT_EQ(LabelOf("std::enable_if<((8)>(0)), void>::type vllm::norm_kernel<c10::Half>(int)", 30),
            "norm_kernel<Half>");
}

TEST(LabelNames, OperatorsAndTilesStay) {
  EXPECT_EQ(LabelOf("void at::native::vectorized_elementwise_kernel<4, "
                    "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)",
                    40),
            "vectorized_elementwise…CUDAFunctor_add<…");
  EXPECT_EQ(LabelOf("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", 40),
            "ampere_bf16_s16816gemm_…128x64_…64x4_tn");
}

TEST(LabelNames, SiblingsShowWhatDiffers) {
  const std::string begin = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_";
  EXPECT_EQ(LabelNames(Names{begin + "128x64_64x4_tn_align8>(Params)",
                             begin + "128x64_64x4_nn_align8>(Params)",
                             begin + "256x64_64x4_tn_align8>(Params)"},
                       40)
                .texts,
            (Names{"Kernel2<cutlass_80_…128x64_64x4_tn_…", "Kernel2<cutlass_80_…128x64_64x4_nn_…",
                   "Kernel2<cutlass_80_…256x64_64x4_tn_…"}));
}

TEST(LabelNames, WhatDiffersInNoiseAloneShowsThat) {
  const std::string name = "void at::native::a_kernel_of_some_length";
  const Labels labels = LabelNames(Names{name + "(int, float)", name + "(int, double)"}, 30);
  EXPECT_TRUE(labels.tell);
  EXPECT_NE(labels.texts[0].find("float"), std::string::npos) << labels.texts[0];
  EXPECT_NE(labels.texts[1].find("double"), std::string::npos) << labels.texts[1];
}

TEST(LabelNames, NamesWithoutBracketsKeepBothEnds) {
  EXPECT_EQ(LabelOf("torch/nn/modules/transformer/encoder/layer.py(1501): _call_impl", 40),
            "layer.py(1501): _call_impl");
}

TEST(LabelNames, ALabelIsNoOtherNameAndDependsOnTheSetAlone) {
  const std::string name = "void at::native::some_kernel<float>(at::TensorIteratorBase&)";
  Names names{name, "some_kernel<float>", "at::native::some_kernel<float>", name};
  const Names labels = LabelNames(names, 32).texts;
  ExpectApart(names, labels);
  std::reverse(names.begin(), names.end());
  Names reversed = LabelNames(names, 32).texts;
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reversed, labels);
}

TEST(LabelNames, NumbersAreTheLastResort) {
  Names names;
  for (size_t i = 0; i < 300; ++i) {
    names.push_back("k_" + std::string(100 + i, 'x'));
  }
  const Labels labels = LabelNames(names, 16);
  EXPECT_FALSE(labels.tell);
  ExpectApart(names, labels.texts);
  EXPECT_TRUE(std::any_of(labels.texts.begin(), labels.texts.end(), [](const std::string& label) {
    return label.find("…#") != std::string::npos;
  }));
}

TEST(LabelNames, NoRoomIsNoHang) {
  const Names names{"a_long_name_of_one", "a_long_name_of_two", "漢字漢字漢字", ""};
  for (size_t cells = 0; cells < 8; ++cells) {
    for (const std::string& label : LabelNames(names, cells).texts) {
      EXPECT_LE(DisplayWidth(label), cells);
    }
  }
}

// Of few pieces, so that names are alike and differ anywhere.
std::string RandomName(std::mt19937& random) {
  const Names pieces{"void ",    "at::native::",
                     "<a, b>",   "x",
                     "(int)",    "128x64_",
                     "é",        "漢",
                     "שלום",     "Functor<",
                     "> >",      std::string(30, 'x'),
                     "_7_",      " ",
                     "…",        "#2",
                     "\xCC\x81", "(anonymous namespace)::",
                     "_kernel_", " [clone .kd]",
                     "::",       "{lambda()#1}"};
  std::string name;
  for (size_t length = random() % 12; length > 0; --length) {
    name += pieces[random() % pieces.size()];
  }
  return name;
}

TEST(LabelNames, AnyNamesAreToldApartWithinTheWidth) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Names names;
    for (size_t count = 1 + random() % 40; count > 0; --count) {
      names.push_back(RandomName(random));
    }
    const size_t cells = 12 + random() % 80;
    const Labels labels = LabelNames(names, cells);
    ASSERT_EQ(labels.texts.size(), names.size());
    ExpectApart(names, labels.texts);
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_LE(DisplayWidth(labels.texts[i]), cells) << labels.texts[i];
      EXPECT_TRUE(!labels.tell || IsTakenFrom(labels.texts[i], names[i])) << names[i] << "\n"
                                                                          << labels.texts[i];
    }
  }
}

// A minute on any machine if it were quadratic.
TEST(LabelNames, ManyNamesOfOneFamilyTakeLinearTime) {
  Names names;
  for (size_t i = 0; i < 20000; ++i) {
    std::string name(200, 'a');
    name[i % 200] = 'b';
    names.push_back(name + "_" + std::to_string(i) + "<" + std::string(40, '<'));
  }
  names.push_back(std::string(1000000, 'x') + "y");
  names.push_back(std::string(1000000, 'x') + "z");
  const Labels labels = LabelNames(names, 40);
  std::map<std::string, size_t> counts;
  for (const std::string& label : labels.texts) {
    EXPECT_EQ(++counts[label], 1U) << label;
  }
}

}  // namespace

}  // namespace borescope::internal
