#include "borescope/packs/chakra/link/link_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal::chakra {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;
constexpr int kNodeLevel = 2;
constexpr int kMemberLevel = kNodeLevel + 1;

void AppendInt(std::string& out, int64_t value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

class LinkedWriter {
 public:
  LinkedWriter(const HostTrace& host, const LinkPlan& plan, JsonForm form, Sink& sink)
      : host_(host), plan_(plan), form_(form), sink_(sink) {}

  Result<void> Write() {
    out_ += '{';
    for (size_t i = 0; i < host_.top.size(); ++i) {
      out_ += i == 0 ? "" : ",";
      AppendBreak(out_, form_, 1);
      Key(host_.top[i].key);
      if (i == host_.nodes_at) {
        BS_TRY(WriteNodes());
      } else {
        BS_TRY(Value(host_.top[i].value, 1));
      }
    }
    AppendBreak(out_, form_, 0);
    out_ += '}';
    return sink_.Write(out_);
  }

 private:
  // A member of a node whose value is complete.
  struct Member {
    std::string_view key;
    std::string_view value;
  };

  void Key(std::string_view key) {
    AppendStringToken(out_, key);
    out_ += form_ == JsonForm::kIndented ? ": " : ":";
  }

  Result<void> Checked(std::string_view json, size_t bad) const {
    if (bad == std::string_view::npos) {
      return {};
    }
    const std::string_view text = *host_.text;
    return Error{.code = ErrorCode::kCorrupt,
                 .cause = fmt::format("no JSON, or nested deeper than {}", kDeepestJson),
                 .offset = static_cast<size_t>(json.data() - text.data()) + bad};
  }

  Result<void> Value(std::string_view json, int level) {
    return Checked(json, AppendValue(out_, json, form_, level));
  }

  Result<void> WriteNodes() {
    out_ += '[';
    for (const uint32_t row : EachRow(host_.nodes.size())) {
      BS_TRY(WriteHost(row));
      const LinkedHost& linked = plan_.hosts[row];
      for (uint32_t i = linked.first_device; i < linked.end_device; ++i) {
        WriteDevice(i);
      }
      if (out_.size() >= kFlushBytes) {
        BS_TRY(sink_.Write(out_));
        out_.clear();
      }
    }
    if (!host_.nodes.empty()) {
      AppendBreak(out_, form_, 1);
    }
    out_ += ']';
    return {};
  }

  // Converts the members of the node to the form of the output, once for the node and its device
  // work.
  Result<void> Prepare(const HostNode& node) {
    text_.clear();
    ends_.clear();
    for (const HostMember& member : host_.MembersOf(node)) {
      BS_TRY(Checked(member.value, AppendValue(text_, member.value, form_, kMemberLevel)));
      ends_.push_back(text_.size());
    }
    members_.clear();
    size_t begin = 0;
    const std::span<const HostMember> source = host_.MembersOf(node);
    for (size_t i = 0; i < ends_.size(); ++i) {
      members_.push_back({source[i].key, std::string_view(text_).substr(begin, ends_[i] - begin)});
      begin = ends_[i];
    }
    return {};
  }

  // Replaces the member with this key, or adds it after the others. The text of `value` is kept in
  // `extra_`, which does not move.
  void Set(std::string_view key, std::string value) {
    extra_.push_back(std::move(value));
    const auto at = std::find_if(members_.begin(), members_.end(),
                                 [&](const Member& member) { return member.key == key; });
    if (at != members_.end()) {
      at->value = extra_.back();
    } else {
      members_.push_back({key, extra_.back()});
    }
  }

  template <class Append>
  void SetBy(std::string_view key, const Append& append) {
    std::string value;
    append(value);
    Set(key, std::move(value));
  }
  void SetInt(std::string_view key, int64_t number) {
    SetBy(key, [&](std::string& out) { AppendInt(out, number); });
  }
  void SetTime(std::string_view key, const LinkTime& time) {
    SetBy(key, [&](std::string& out) { time.AppendTo(out); });
  }
  void SetJson(std::string_view key, std::string_view json) {
    SetBy(key, [&](std::string& out) {
      if (AppendValue(out, json, form_, kMemberLevel) != std::string_view::npos) {
        out = "null";  // damaged text of the device trace
      }
    });
  }

  template <class Ids>
  void SetIds(std::string_view key, const Ids& ids) {
    SetBy(key, [&](std::string& out) {
      out += '[';
      bool is_first = true;
      for (const auto& id : ids) {
        out += is_first ? "" : ",";
        is_first = false;
        AppendBreak(out, form_, kMemberLevel + 1);
        AppendInt(out, id);
      }
      AppendBreak(out, form_, kMemberLevel);
      out += ']';
    });
  }

  // An id that no node has gets a new id after all others, as in the reference.
  int64_t NewId(int64_t old) {
    if (const std::optional<uint32_t> row = host_.Find(old); row.has_value()) {
      return plan_.IdOf(*row);
    }
    const auto next =
        static_cast<int64_t>(host_.nodes.size() + plan_.devices.size() + unknown_ids_.size());
    return unknown_ids_.try_emplace(old, next).first->second;
  }

  Result<void> WriteHost(uint32_t row) {
    const HostNode& node = host_.nodes[row];
    const LinkedHost& linked = plan_.hosts[row];
    extra_.clear();
    BS_TRY(Prepare(node));
    SetInt("id", plan_.IdOf(row));
    if (linked.is_matched) {
      SetTime("inclusive_dur", linked.inclusive);
      SetTime("exclusive_dur", linked.exclusive);
      SetTime("ts", linked.begin);
      if (linked.inter_thread_dep.has_value()) {
        SetInt("inter_thread_dep", *linked.inter_thread_dep);
      } else {
        Set("inter_thread_dep", "null");
      }
    }
    base_ = members_;
    const size_t kept = extra_.size();
    if (host_.has_ctrl_deps && node.parent.has_value()) {
      SetInt("ctrl_deps", NewId(*node.parent));
    }
    AddSyncs(plan_.IdOf(row));
    WriteNode();
    extra_.resize(kept);
    return {};
  }

  void AddSyncs(int64_t id) {
    sync_ids_.clear();
    while (sync_at_ < plan_.syncs.size() && plan_.syncs[sync_at_].waits <= id) {
      if (plan_.syncs[sync_at_].waits == id) {
        sync_ids_.push_back(plan_.syncs[sync_at_].on);
      }
      ++sync_at_;
    }
    if (!sync_ids_.empty()) {
      SetIds("sync_dep", sync_ids_);
    }
  }

  // Writes a copy of its host node with its own members. REQUIRES: WriteHost was called for that
  // node.
  void WriteDevice(uint32_t row) {
    const LinkedDevice& device = plan_.devices[row];
    const size_t kept = extra_.size();
    members_ = base_;
    SetInt("id", plan_.IdOfDevice(row));
    SetInt("ctrl_deps", plan_.IdOf(device.host));
    SetJson("name", device.name);
    SetTime("inclusive_dur", device.duration);
    SetTime("exclusive_dur", device.duration);
    SetTime("ts", device.begin);
    Set("cat", fmt::format("\"{}\"", device.category));
    SetJson("ph", device.phase);
    SetJson("stream", device.stream);
    if (!device.group.empty()) {
      SetJson("pg_name", device.group);
    }
    if (device.device.has_value()) {
      SetInt("device", *device.device);
    }
    if (device.first_dep != device.end_dep) {
      SetIds("stream_dep", std::span(plan_.device_deps)
                               .subspan(device.first_dep, device.end_dep - device.first_dep));
    }
    AddSyncs(plan_.IdOfDevice(row));
    WriteNode();
    extra_.resize(kept);
  }

  void WriteNode() {
    out_ += has_node_ ? "," : "";
    has_node_ = true;
    AppendBreak(out_, form_, kNodeLevel);
    out_ += '{';
    for (size_t i = 0; i < members_.size(); ++i) {
      out_ += i == 0 ? "" : ",";
      AppendBreak(out_, form_, kMemberLevel);
      Key(members_[i].key);
      out_ += members_[i].value;
    }
    AppendBreak(out_, form_, kNodeLevel);
    out_ += '}';
  }

  const HostTrace& host_;
  const LinkPlan& plan_;
  const JsonForm form_;
  Sink& sink_;
  std::string out_;
  std::string text_;               // values of the current node
  std::vector<size_t> ends_;       // where each of them ends
  std::vector<Member> members_;    // what is written next
  std::vector<Member> base_;       // of the host node, with its times, for its device work
  std::deque<std::string> extra_;  // values that do not come from the host trace
  std::vector<int64_t> sync_ids_;
  size_t sync_at_ = 0;  // in plan_.syncs
  HashMap<int64_t, int64_t> unknown_ids_;
  bool has_node_ = false;
};

}  // namespace

void LinkTime::AppendTo(std::string& out) const {
  if (kind == Kind::kDouble) {
    AppendPythonDouble(out, fraction);
    return;
  }
  if (kind == Kind::kInt || whole % 1000 == 0) {
    AppendInt(out, kind == Kind::kInt ? whole : whole / 1000);
    return;
  }
  const auto size =
      whole < 0 ? uint64_t{0} - static_cast<uint64_t>(whole) : static_cast<uint64_t>(whole);
  std::string text = fmt::format("{}{}.{:03}", whole < 0 ? "-" : "", size / 1000, size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  out += text;
}

Result<void> WriteLinked(const HostTrace& host, const LinkPlan& plan, JsonForm form, Sink& sink) {
  return LinkedWriter(host, plan, form, sink).Write();
}

}  // namespace borescope::internal::chakra
