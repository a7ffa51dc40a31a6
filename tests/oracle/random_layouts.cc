#include "tests/oracle/random_layouts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace borescope::internal::testkit {
namespace {

enum class Kind { kNumber, kTime, kText, kList, kAny };

struct Key {
  std::string_view name;
  Kind kind;
};

constexpr Key kEventKeys[] = {{"name", Kind::kText}, {"pid", Kind::kNumber}, {"tid", Kind::kNumber},
                              {"ts", Kind::kTime},   {"dur", Kind::kTime},   {"id", Kind::kNumber},
                              {"bp", Kind::kText},   {"s", Kind::kText},     {"tts", Kind::kAny}};
constexpr Key kArgsKeys[] = {
    {"External id", Kind::kNumber},   {"correlation", Kind::kNumber}, {"stream", Kind::kNumber},
    {"Ev Idx", Kind::kNumber},        {"Input Dims", Kind::kList},    {"Input type", Kind::kList},
    {"Concrete Inputs", Kind::kList}, {"grid", Kind::kList},          {"block", Kind::kList},
    {"bytes", Kind::kNumber},         {"kernel", Kind::kText},        {"Addr", Kind::kNumber},
    {"Bytes", Kind::kNumber},         {"nested", Kind::kAny},         {"dtype", Kind::kText},
    {"Collective name", Kind::kText}, {"name", Kind::kText},          {"occupancy", Kind::kAny}};
constexpr std::string_view kHeads[] = {R"("ph": "X", "cat": "cpu_op")",
                                       R"("ph":"X","cat":"kernel")",
                                       R"("ph": "s", "cat": "ac2g")",
                                       R"("cat": "fwdbwd", "ph": "f")",
                                       R"("ph": "M")",
                                       R"("ph": "i", "cat": "cpu_instant_event")",
                                       R"("ph": "X", "cat": "gpu_memcpy")",
                                       R"("ph": "X", "cat": "user_annotation")",
                                       R"("ph": "b", "cat": "a")",
                                       R"("ph": "C", "cat": "monitor,gpu,0")",
                                       R"("ph": "X", "cat": "cuda_profiler_range")",
                                       R"("ph": "X", "cat": "cpu_\u006fp")",
                                       R"("ph": "X", "cat": "half of a pair \ud800")",
                                       R"("ph": "\u0058", "cat": "kernel")",
                                       R"("cat": "overhead")"};
constexpr std::string_view kOddTexts[] = {R"(a\"b)",
                                          R"(\\)",
                                          R"(\u00e9)",
                                          R"(\ud800)",
                                          "\xc3\xa9",
                                          "\xff",
                                          "\x01",
                                          "a\nb",
                                          R"(\q)",
                                          R"(x\\\"y)",
                                          "{}[],:",
                                          "\xed\xa0\x80",
                                          "",
                                          "null",
                                          "12",
                                          "metrics: k",
                                          "stream 7",
                                          "\xf0\x9f\x98\x80",
                                          R"(ends with \\)",
                                          "a long text that needs more than two blocks"};
constexpr std::string_view kOddNumbers[] = {"NaN",
                                            "Infinity",
                                            "-1",
                                            "1e5",
                                            "1E-3",
                                            "123456789012345678901234567890",
                                            "0.1234567",
                                            "null",
                                            "true",
                                            "\"12\"",
                                            "1.",
                                            ".5",
                                            "+3",
                                            "01",
                                            "-0.0",
                                            "9223372036854775807",
                                            "1.5e400",
                                            "18446744073709551615",
                                            "1/2",
                                            "12 34",
                                            "[1]",
                                            "{\"a\":1}",
                                            "",
                                            "-",
                                            "12345678.123",
                                            "0000000000000000000000000000000000000000001"};
constexpr std::string_view kOddLists[] = {
    "[]",     "[[]]", "[{\"a\":[1]}]", "[1,\n 2]", "[\"]\"]",       R"(["\"]"])", "[1}",
    "[[1]",   "{}",   "[\"\xff\"]",    "[|]",      "[\"a\" \"b\"]", "\"[1]\"",    "null",
    "[1,,2]", "[\\]", "[\x01]"};
constexpr std::string_view kSpaces[] = {"", " ", "\n    ", "\r\n\t", "      "};

class Writer {
 public:
  Writer(Random& random, const LayoutsOptions& options) : random_(random), options_(options) {
    for (int i = 0; i < options.layouts; ++i) {
      layouts_.push_back(MakeLayout());
    }
  }

  std::string Event() {
    const Layout& layout = random_.Pick(layouts_);
    text_ = "{" + layout.space;
    if (layout.head_first) {
      text_ += layout.head;
    }
    Members(layout.event_keys, layout, layout.head_first);
    if (!layout.args_keys.empty()) {
      text_ += Comma(layout) + "\"args\"" + layout.colon + "{" + layout.space;
      Members(layout.args_keys, layout, false);
      text_ += layout.space + "}";
    }
    if (!layout.head_first) {
      text_ += Comma(layout) + std::string(layout.head);
    }
    return text_ + layout.space + "}";
  }

 private:
  struct Layout {
    std::string_view head;
    bool head_first = true;
    std::vector<Key> event_keys;
    std::vector<Key> args_keys;
    std::string space;
    std::string colon;
  };

  template <class Keys>
  std::vector<Key> SomeOf(const Keys& keys, double share) {
    std::vector<Key> some;
    for (const Key& key : keys) {
      if (random_.Chance(share)) {
        some.push_back(key);
      }
    }
    for (size_t i = some.size(); i > 1; --i) {
      std::swap(some[i - 1], some[random_.Below(i)]);
    }
    if (!some.empty() && random_.Chance(0.05)) {
      some.push_back(some.front());  // a key twice
    }
    return some;
  }

  Layout MakeLayout() {
    Layout layout;
    layout.head = random_.Pick(kHeads);
    layout.head_first = random_.Chance(0.8);
    layout.event_keys = SomeOf(kEventKeys, 0.8);
    if (layout.event_keys.empty()) {
      layout.event_keys.push_back(kEventKeys[0]);
    }
    layout.args_keys = SomeOf(kArgsKeys, random_.Chance(0.3) ? 0 : 0.4);
    layout.space = random_.Pick(kSpaces);
    layout.colon = random_.Chance(0.5) ? ":" : " : ";
    return layout;
  }

  std::string Comma(const Layout& layout) {
    if (random_.Chance(options_.damage)) {
      return random_.Chance(0.5) ? " " : ",,";
    }
    return "," + layout.space;
  }

  void Members(const std::vector<Key>& keys, const Layout& layout, bool follows) {
    for (const Key& key : keys) {
      text_ += follows ? Comma(layout) : "";
      text_ += "\"" + std::string(key.name) + "\"" + layout.colon + Value(key.kind);
      follows = true;
    }
  }

  std::string Value(Kind kind) {
    const bool is_odd = random_.Chance(options_.oddity);
    switch (kind) {
      case Kind::kNumber:
        return is_odd ? std::string(random_.Pick(kOddNumbers))
                      : std::to_string(random_.Below(100'000));
      case Kind::kTime:
        return is_odd ? std::string(random_.Pick(kOddNumbers))
                      : std::to_string(random_.Below(1'000'000'000)) + "." +
                            std::to_string(100 + random_.Below(900));
      case Kind::kText:
        return "\"" + std::string(is_odd ? random_.Pick(kOddTexts) : random_.Pick(kTexts)) + "\"";
      case Kind::kList:
        return std::string(is_odd ? random_.Pick(kOddLists) : random_.Pick(kLists));
      case Kind::kAny:
        break;
    }
    return Value(static_cast<Kind>(random_.Below(4)));
  }

  static constexpr std::string_view kTexts[] = {
      "aten::mm",
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>",
      "cudaLaunchKernel",
      "aten::add_",
      "fwdbwd",
      "thread_name",
      "e",
      "nccl:all_reduce",
      "p"};
  static constexpr std::string_view kLists[] = {
      "[1, 2, 3]", "[[1, 2], []]", R"(["float", "Scalar", ""])", R"(["", "[8, 16]"])", "[512,1,1]"};

  Random& random_;
  const LayoutsOptions& options_;
  std::vector<Layout> layouts_;
  std::string text_;
};

}  // namespace

std::string RandomLayouts(Random& random, size_t count, const LayoutsOptions& options) {
  Writer writer(random, options);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i != 0) {
      text += random.Chance(options.damage) ? "\n" : random.Chance(0.5) ? ",\n  " : ",";
    }
    text += writer.Event();
  }
  return text;
}

}  // namespace borescope::internal::testkit
