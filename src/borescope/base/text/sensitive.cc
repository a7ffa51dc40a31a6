#include "borescope/base/text/sensitive.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

constexpr size_t kNone = 0;  // no match ends where the text begins

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsAlnum(char c) { return IsLetter(c) || IsDigit(c); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsOther(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }
bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// The end of the run of characters from `at` on for which `is` holds.
template <class Is>
size_t EndOf(std::string_view text, size_t at, const Is& is) {
  while (at < text.size() && is(text[at])) {
    ++at;
  }
  return at;
}

char Before(std::string_view text, size_t at) { return at == 0 ? ' ' : text[at - 1]; }

bool IsPathCharacter(char c) { return !IsBlank(c) && !IsOneOf(c, "\"'`,;:()<>|[]{}*?="); }

// Folders of people are found even where a word ends right before them.
bool StartsHome(std::string_view rest) {
  constexpr std::string_view kHomes[] = {"/home/", "/Users/", "/root/", "/mnt/", "/scratch/"};
  return std::any_of(std::begin(kHomes), std::end(kHomes),
                     [&](std::string_view home) { return rest.starts_with(home); });
}

size_t PosixPath(std::string_view text, size_t at) {
  const char before = Before(text, at);
  constexpr size_t kLongestUser = 64;
  const std::string_view rest = text.substr(at, kLongestUser);
  const bool is_tilde = rest.starts_with('~') && before != '~';
  if ((is_tilde && !Contains(rest.substr(0, rest.find_first_of(" \"',;:()")), "/")) ||
      (!is_tilde && !rest.starts_with('/'))) {
    return kNone;
  }
  const bool is_free = !IsAlnum(before) && !IsOther(before) && !IsOneOf(before, "_./)]>~\\");
  if (!is_free && !StartsHome(rest)) {
    return kNone;
  }
  const size_t end = EndOf(text, at + 1, IsPathCharacter);
  const bool is_name =
      at + 1 < end && std::any_of(text.begin() + static_cast<ptrdiff_t>(at) + 1,
                                  text.begin() + static_cast<ptrdiff_t>(end),
                                  [](char c) { return IsLetter(c) || IsOther(c); });
  return is_name ? end : kNone;
}

// "C:\Users\x", "\\server\share".
size_t WindowsPath(std::string_view text, size_t at) {
  constexpr size_t kLongestHost = 256;
  const std::string_view rest = text.substr(at);
  const bool is_drive = rest.size() > 3 && IsLetter(rest[0]) && rest[1] == ':' &&
                        IsOneOf(rest[2], "\\/") && !IsAlnum(Before(text, at));
  const bool is_share = rest.size() > 3 && rest.starts_with("\\\\") && IsAlnum(rest[2]) &&
                        Contains(rest.substr(2, kLongestHost), "\\");
  return is_drive || is_share ? EndOf(text, at + 3, IsPathCharacter) : kNone;
}

size_t Path(std::string_view text, size_t at) {
  const size_t end = PosixPath(text, at);
  return end != kNone ? end : WindowsPath(text, at);
}

size_t Url(std::string_view text, size_t at) {
  if (!IsLetter(text[at]) || IsAlnum(Before(text, at))) {
    return kNone;
  }
  constexpr size_t kLongestScheme = 16;  // else a long text would be read again at each place
  const size_t scheme = EndOf(text.substr(0, at + kLongestScheme), at,
                              [](char c) { return IsAlnum(c) || IsOneOf(c, "+.-"); });
  if (text.substr(scheme, 3) != "://") {
    return kNone;
  }
  return EndOf(text, scheme + 3, [](char c) { return !IsBlank(c) && !IsOneOf(c, "\"'`<>|{}"); });
}

bool IsHostCharacter(char c) { return IsAlnum(c) || c == '-' || c == '.'; }

// Versions of symbols ("memcpy@GLIBC_2.14", "f@plt") are no hosts.
size_t Account(std::string_view text, size_t at) {
  const auto is_user = [](char c) { return IsAlnum(c) || IsOther(c) || IsOneOf(c, "_.+-"); };
  if (!is_user(text[at]) || (at > 0 && is_user(text[at - 1]))) {
    return kNone;
  }
  const size_t sign = EndOf(text, at, is_user);
  if (sign >= text.size() || text[sign] != '@') {
    return kNone;
  }
  const size_t host = EndOf(text, sign, [](char c) { return c == '@'; });
  const size_t end = EndOf(text, host, [](char c) { return IsHostCharacter(c) || c == '_'; });
  const std::string_view name = text.substr(host, end - host);
  const bool is_symbol = name.empty() || name == "plt" || Contains(name, "GLIBC") ||
                         Contains(name, "CXXABI") || Contains(name, "GCC_");
  return is_symbol ? kNone : end;
}

// At least two dots, and an ending that hosts have and modules of Python do not.
size_t Host(std::string_view text, size_t at) {
  constexpr std::string_view kEndings[] = {"com",      "net",  "org",  "edu",   "gov", "io",
                                           "local",    "lan",  "corp", "cloud", "ai",  "dev",
                                           "cluster",  "home", "arpa", "intra", "de",  "uk",
                                           "internal", "cn",   "fr",   "jp",    "ch",  "eu"};
  if (!IsAlnum(text[at]) || (at > 0 && (IsHostCharacter(text[at - 1]) || text[at - 1] == '_'))) {
    return kNone;
  }
  size_t end = EndOf(text, at, IsHostCharacter);
  while (end > at && text[end - 1] == '.') {
    --end;
  }
  const std::string_view name = text.substr(at, end - at);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find('.') == dot ||
      (end < text.size() && text[end] == '_')) {
    return kNone;
  }
  const bool is_host = std::find(std::begin(kEndings), std::end(kEndings), name.substr(dot + 1)) !=
                       std::end(kEndings);
  return is_host ? end : kNone;
}

size_t Ipv4(std::string_view text, size_t at) {
  const auto is_part = [](char c) { return IsDigit(c) || c == '.'; };
  if (!IsDigit(text[at]) || IsAlnum(Before(text, at)) || Before(text, at) == '.') {
    return kNone;
  }
  size_t end = EndOf(text, at, is_part);
  end -= text[end - 1] == '.' ? 1 : 0;
  int parts = 0;
  for (size_t i = at; i < end; ++i) {
    const size_t stop = EndOf(text, i, IsDigit);
    if (stop == i || stop - i > 3 || (stop - i == 3 && text.substr(i, 3) > "255")) {
      return kNone;
    }
    ++parts;
    i = stop;
  }
  return parts == 4 && (end == text.size() || !IsLetter(text[end])) ? end : kNone;
}

// IPv6 and hardware addresses: groups of hexadecimal digits between colons.
size_t HexGroups(std::string_view text, size_t at) {
  const auto is_part = [](char c) { return IsHex(c) || c == ':'; };
  if (!is_part(text[at]) || IsAlnum(Before(text, at)) || IsOneOf(Before(text, at), ":_")) {
    return kNone;
  }
  const size_t end = EndOf(text, at, is_part);
  const std::string_view run = text.substr(at, end - at);
  const auto colons = std::count(run.begin(), run.end(), ':');
  const bool has_digit = std::any_of(run.begin(), run.end(), IsDigit);
  if (colons < 2 || !has_digit || run.ends_with(':') ||
      (end < text.size() && (IsLetter(text[end]) || text[end] == '_'))) {
    return kNone;
  }
  const bool is_short = run.find("::") != std::string_view::npos && colons >= 2;
  const bool is_hardware = colons == 5 && run.size() == 17;
  return is_short || is_hardware || colons == 7 ? end : kNone;
}

size_t Address(std::string_view text, size_t at) {
  const size_t end = Ipv4(text, at);
  return end != kNone ? end : HexGroups(text, at);
}

size_t Uuid(std::string_view text, size_t at) {
  constexpr size_t kGroups[] = {8, 4, 4, 4, 12};
  if (IsHex(Before(text, at))) {
    return kNone;
  }
  const std::string_view rest = text.substr(at);
  size_t place = at + (rest.starts_with("GPU-") || rest.starts_with("MIG-") ? 4 : 0);
  for (const size_t size : kGroups) {
    if (EndOf(text, place, IsHex) != place + size) {
      return kNone;
    }
    place += size;
    if (size != kGroups[4]) {
      if (place >= text.size() || !IsOneOf(text[place], "-_")) {
        return kNone;
      }
      ++place;
    }
  }
  return place;
}

bool IsTokenCharacter(char c) { return IsAlnum(c) || IsOneOf(c, "_-.+/=~"); }

constexpr std::string_view kTokenPrefixes[] = {
    "ghp_",  "gho_",  "ghu_",   "ghs_",  "ghr_", "github_pat_", "glpat-",   "hf_",   "sk-",
    "xoxb-", "xoxp-", "xoxa-",  "xapp-", "AKIA", "ASIA",        "AIza",     "eyJ",   "npm_",
    "pypi-", "dckr_", "nvapi-", "ya29.", "SG.",  "rk_live_",    "sk_live_", "wandb_"};
constexpr std::string_view kTokenLetters = "ASdeghnprswxy";  // that they begin with
static_assert(std::all_of(std::begin(kTokenPrefixes), std::end(kTokenPrefixes),
                          [](std::string_view prefix) {
                            return kTokenLetters.find(prefix[0]) != std::string_view::npos;
                          }));

size_t KnownToken(std::string_view text, size_t at) {
  constexpr size_t kLeast = 16;
  if (IsAlnum(Before(text, at)) || !IsOneOf(text[at], kTokenLetters)) {
    return kNone;
  }
  const std::string_view rest = text.substr(at);
  const bool has_prefix =
      std::any_of(std::begin(kTokenPrefixes), std::end(kTokenPrefixes),
                  [&](std::string_view prefix) { return rest.starts_with(prefix); });
  if (!has_prefix) {
    return kNone;
  }
  constexpr size_t kLooksAt = 256;  // the whole of it is read only if it is one
  const std::string_view head = text.substr(at, kLooksAt);
  const size_t head_end = EndOf(head, 0, IsTokenCharacter);
  const bool has_digit =
      std::any_of(head.begin(), head.begin() + static_cast<ptrdiff_t>(head_end), IsDigit);
  return head_end >= kLeast && has_digit ? EndOf(text, at, IsTokenCharacter) : kNone;
}

// What follows "Bearer" and "Basic" in a header.
size_t HeaderToken(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  const size_t word = rest.starts_with("Bearer ") ? 7 : rest.starts_with("Basic ") ? 6 : 0;
  const size_t end = word == 0 ? at : EndOf(text, at + word, IsTokenCharacter);
  return word != 0 && end > at + word + 7 ? end : kNone;
}

// Digests are as long, and as good a handle on what somebody did.
size_t LongHex(std::string_view text, size_t at) {
  constexpr size_t kLeast = 32;
  if (!IsHex(text[at]) || IsAlnum(Before(text, at))) {
    return kNone;
  }
  const size_t end = EndOf(text, at, IsHex);
  return end - at >= kLeast && (end == text.size() || !IsAlnum(text[end])) ? end : kNone;
}

size_t Token(std::string_view text, size_t at) {
  size_t end = KnownToken(text, at);
  end = end != kNone ? end : HeaderToken(text, at);
  return end != kNone ? end : LongHex(text, at);
}

bool IsWordCharacter(char c) { return IsAlnum(c) || c == '_' || c == '-'; }

bool IsSecretName(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "password", "passwd",     "passphrase", "secret",     "token",       "apikey",   "api_key",
      "api-key",  "access_key", "auth",       "credential", "credentials", "hostname", "username"};
  const std::string lower = LowerCase(name);
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view end) { return lower.ends_with(end); });
}

bool IsEnvironmentName(std::string_view name) {
  return name.size() >= 3 && name[0] >= 'A' && name[0] <= 'Z' &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

bool IsPlainNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return IsDigit(c) || IsOneOf(c, ".+-"); });
}

// NAME=value of an environment, or a name of secrets with its value. The end of the value.
size_t Setting(std::string_view text, size_t at) {
  if (!IsWordCharacter(text[at]) || IsWordCharacter(Before(text, at))) {
    return kNone;
  }
  const size_t name_end = EndOf(text, at, IsWordCharacter);
  const std::string_view name = text.substr(at, name_end - at);
  size_t value = EndOf(text, name_end, [](char c) { return c == '"' || c == '\'' || c == ' '; });
  if (value >= text.size() || !IsOneOf(text[value], "=:") || text.substr(value).starts_with("::")) {
    return kNone;
  }
  const bool is_setting =
      IsSecretName(name) || (text[value] == '=' && value == name_end && IsEnvironmentName(name));
  if (!is_setting) {
    return kNone;
  }
  value = EndOf(text, value + 1, [](char c) { return c == '"' || c == '\'' || c == ' '; });
  const size_t end =
      EndOf(text, value, [](char c) { return !IsBlank(c) && !IsOneOf(c, "\"'`,;|&)]}"); });
  return end > value && !IsPlainNumber(text.substr(value, end - value)) ? end : kNone;
}

struct Finder {
  Sensitive kind;
  size_t (*find)(std::string_view text, size_t at);  // the end, or kNone
};
// The first that matches at a place wins.
constexpr Finder kFinders[] = {
    {Sensitive::kSetting, Setting}, {Sensitive::kUrl, Url},   {Sensitive::kAccount, Account},
    {Sensitive::kPath, Path},       {Sensitive::kUuid, Uuid}, {Sensitive::kToken, Token},
    {Sensitive::kAddress, Address}, {Sensitive::kHost, Host},
};

// Most names have none of the characters without which there is nothing to find.
bool MayHoldAny(std::string_view text) {
  constexpr size_t kShortest = 5;
  return text.size() >= kShortest && text.find_first_of("/\\@.:=-_ ~") != std::string_view::npos;
}

// Whether any of them may begin at `c`, which follows `before`. Inside of a word few can: most
// characters are passed by this alone.
bool MayBegin(char before, char c) {
  if (!IsAlnum(c)) {
    return IsOther(c) || IsOneOf(c, "_-.+~/\\:");
  }
  const bool may_be_uuid = !IsHex(before) && (IsHex(c) || c == 'G' || c == 'M');
  return !IsAlnum(before) || may_be_uuid || c == 'B';  // "Bearer", "Basic"
}

// The end and kind of what begins at a place; kNone for nothing.
std::pair<size_t, Sensitive> FindAt(std::string_view text, size_t at) {
  for (const Finder& finder : kFinders) {
    if (const size_t end = finder.find(text, at); end != kNone) {
      return {end, finder.kind};
    }
  }
  return {kNone, Sensitive::kPath};
}

template <class May>
std::vector<SensitiveSpan> FindWhere(std::string_view text, const May& may_begin) {
  std::vector<SensitiveSpan> spans;
  constexpr size_t kShortestToken = 16;
  if (!MayHoldAny(text) && text.size() < kShortestToken) {
    return spans;
  }
  for (size_t at = 0; at < text.size();) {
    const auto [end, kind] = may_begin(Before(text, at), text[at])
                                 ? FindAt(text, at)
                                 : std::pair(kNone, Sensitive::kPath);
    if (end != kNone) {
      spans.push_back({at, end, kind});
    }
    at = end != kNone ? end : at + 1;
  }
  return spans;
}

struct Words {
  std::string_view word;
  std::string_view name;
};
constexpr Words kWords[] = {
    {"path", "absolute paths"},          {"url", "URLs"},
    {"account", "accounts (user@host)"}, {"host", "host names"},
    {"address", "network addresses"},    {"uuid", "UUIDs"},
    {"token", "tokens and digests"},     {"setting", "settings (NAME=value)"}};
static_assert(std::size(kWords) == kSensitiveKinds);

}  // namespace

std::string_view SensitiveWord(Sensitive kind) { return kWords[static_cast<size_t>(kind)].word; }
std::string_view SensitiveName(Sensitive kind) { return kWords[static_cast<size_t>(kind)].name; }

std::vector<SensitiveSpan> FindSensitive(std::string_view text) {
  return FindWhere(text, MayBegin);
}

std::vector<SensitiveSpan> FindSensitiveAtAnyPlace(std::string_view text) {
  return FindWhere(text, [](char, char) { return true; });
}

}  // namespace borescope::internal
