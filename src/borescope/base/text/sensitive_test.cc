#include "borescope/base/text/sensitive.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

namespace borescope::internal {
namespace {

std::string Found(std::string_view text) {
  std::string found;
  for (const SensitiveSpan& span : FindSensitive(text)) {
    found += found.empty() ? "" : "|";
    found += SensitiveWord(span.kind);
    found += ":";
    found += text.substr(span.begin, span.end - span.begin);
  }
  return found;
}

TEST(FindSensitive, KindsByTheirForm) {
  EXPECT_EQ(Found("load (/data/alice/x.py) now"), "path:/data/alice/x.py");
  EXPECT_EQ(Found("~alice/x and C:\\alice\\y"), "path:~alice/x|path:C:\\alice\\y");
  EXPECT_EQ(Found("glued/home"
                  "/alice/x"),
            "path:/home"
            "/alice/x");
  EXPECT_EQ(Found("tcp://node7:29500 up"), "url:tcp://node7:29500");
  EXPECT_EQ(Found("alice@node7"), "account:alice@node7");
  EXPECT_EQ(Found("on node7.cluster.local."), "host:node7.cluster.local");
  EXPECT_EQ(Found("at 10.1.2.3:80"), "address:10.1.2.3");
  EXPECT_EQ(Found("fe80::1ff:fe23 02:42:ac:11:00:02"),
            "address:fe80::1ff:fe23|address:02:42:ac:11:00:02");
  EXPECT_EQ(Found("GPU-01234567-89ab-cdef-0123-456789abcdef"),
            "uuid:GPU-01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(Found("x ghp_abcdefghij0123456789"), "token:ghp_abcdefghij0123456789");
  EXPECT_EQ(Found("AKIAABCDEFGH01234567"), "token:AKIAABCDEFGH01234567");
  EXPECT_EQ(Found("USER=alice lr=3 password: abc"), "setting:USER=alice|setting:password: abc");
}

TEST(FindSensitive, NamesOfWorkAreNone) {
  for (
      const std::string_view name :
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
       "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
       "torch/nn/modules/module.py(1532): _call_impl", "aten::mm, seq = 25, sizes = [[2, 3], []]",
       "Memcpy HtoD (Pinned -> Device)", "ProfilerStep#12", "memcpy@GLIBC_2.14", "a / b",
       "12:30:45", "torch.nn.functional", "c10::BFloat16", "nccl:all_reduce", "ptr=0x7f12, size=16",
       "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
       "15FillFunctorIfEESt5arrayIPcLm1EEEEviT0_"}) {
    EXPECT_EQ(Found(name), "") << name;
  }
}

// What may begin inside of a word is known; the twin looks everywhere.
TEST(FindSensitive, PassesNoPlaceThatItsTwinFinds) {
  constexpr std::string_view kCharacters = "aGMBfz_-./\\:@=~ (09\xc3";
  constexpr std::string_view kWords[] = {"::",
                                         "1.2.3.4",
                                         "Bearer abcdefghij",
                                         "Basic abcdefghij",
                                         "password: x",
                                         "/scratch/x",
                                         "sk-abcdefghij0123456789",
                                         "GPU-01234567-89ab-cdef-0123-456789abcdef",
                                         "C:\\alice\\y",
                                         "01234567-89ab-cdef-0123-456789abcdef",
                                         "tcp://node7",
                                         "user@node7",
                                         "n.cluster.local",
                                         "02:42:ac:11:00:02",
                                         "fe80::1",
                                         "0123456789abcdef0123456789abcdef",
                                         "A_B=c"};
  std::mt19937 random(19);  // NOLINT(*-msc51-cpp): the same texts each time
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (size_t pieces = random() % 8 + 1; pieces > 0; --pieces) {
      const size_t piece = random() % (kCharacters.size() + std::size(kWords));
      text += piece < kCharacters.size() ? kCharacters.substr(piece, 1)
                                         : kWords[piece - kCharacters.size()];
    }
    const auto fast = FindSensitive(text);
    const auto slow = FindSensitiveAtAnyPlace(text);
    ASSERT_EQ(fast.size(), slow.size()) << text;
    for (size_t k = 0; k < fast.size(); ++k) {
      ASSERT_EQ(std::tuple(fast[k].begin, fast[k].end, fast[k].kind),
                std::tuple(slow[k].begin, slow[k].end, slow[k].kind))
          << text;
    }
  }
}

// At each of its places a long text must not be read to its end.
TEST(FindSensitive, LongTextsCostTheirLength) {
  for (const std::string_view part : {"a.", "~-", "a@", "ab:", "A_=", "sk-", "\\\\a", "1."}) {
    std::string text;
    while (text.size() < 2'000'000) {
      text += part;
    }
    EXPECT_LE(FindSensitive(text).size(), text.size()) << part;  // ends, in time for the test
  }
}

}  // namespace
}  // namespace borescope::internal
