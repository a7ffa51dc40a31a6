#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
namespace {

void CountRepeated(RocpdTables& tables, RowIds& ids, std::string_view base) {
  tables.diagnostics().CountMany(Diag::kDuplicateKey, ids.Finish(), Diagnostics::kNoByte,
                                 tables.Name(base));
}

Result<void> ReadNumbers(RocpdTables& tables, std::string_view base, std::string_view column,
                         RocpdNumbers& numbers) {
  const std::string_view columns[] = {"id", column};
  BS_TRY(tables.ForEach(base, columns, [&](const TableRows& rows) {
    numbers.ids.Add(rows.Integer(0));
    numbers.values.push_back(rows.Integer(1));
  }));
  CountRepeated(tables, numbers.ids, base);
  return {};
}

Result<void> ReadThreadNames(RocpdTables& tables) {
  constexpr std::string_view kColumns[] = {"pid", "tid", "name"};
  return tables.ForEach("info_thread", kColumns, [&](const TableRows& rows) {
    if (!rows.Text(2).empty()) {
      tables.part.thread_names.push_back({tables.processes.Get(rows.Integer(0)), rows.Integer(1),
                                          tables.part.Intern(rows.Text(2))});
    }
  });
}

void AddDevice(RocpdTables& tables, int64_t device, std::string_view name) {
  if (tables.known_devices.insert(device).second) {
    DeviceInfo info;
    info.id = device;
    info.name = name;
    tables.part.data.meta.devices.push_back(std::move(info));
  }
}

Result<void> ReadAgents(RocpdTables& tables) {
  enum Column : uint8_t { kId, kType, kTypeIndex, kAbsoluteIndex, kName, kProduct };
  constexpr std::string_view kColumns[] = {"id",   "type",        "type_index", "absolute_index",
                                           "name", "product_name"};
  RocpdAgents& agents = tables.agents;
  BS_TRY(tables.ForEach("info_agent", kColumns, [&](const TableRows& rows) {
    const int64_t device = rows.Integer(kTypeIndex, rows.Integer(kAbsoluteIndex, -1));
    const bool is_gpu = rows.Text(kType) == "GPU";
    agents.ids.Add(rows.Integer(kId));
    agents.device.push_back(device);
    agents.is_gpu.push_back(is_gpu ? 1 : 0);
    if (is_gpu) {
      const std::string product(rows.Text(kProduct));
      AddDevice(tables, device, product.empty() ? rows.Text(kName) : std::string_view(product));
    }
  }));
  CountRepeated(tables, agents.ids, "info_agent");
  return {};
}

Result<void> ReadSymbols(RocpdTables& tables) {
  enum Column : uint8_t { kId, kDisplayName, kKernelName, kRegisters };
  constexpr std::string_view kColumns[] = {"id", "display_name", "kernel_name", "arch_vgpr_count"};
  RocpdSymbols& symbols = tables.symbols;
  BS_TRY(tables.ForEach("info_kernel_symbol", kColumns, [&](const TableRows& rows) {
    const StringId name = tables.part.Intern(rows.Text(kDisplayName));
    symbols.ids.Add(rows.Integer(kId));
    symbols.name.push_back(name == StringId{0} ? tables.part.Intern(rows.Text(kKernelName)) : name);
    symbols.registers.push_back(rows.SmallInteger(kRegisters));
  }));
  CountRepeated(tables, symbols.ids, "info_kernel_symbol");
  return {};
}

// The runtime numbers every call; 0 is none.
int64_t LinkOf(const TableRows& rows, int stack, int correlation) {
  const int64_t number = rows.Integer(stack, 0);
  const int64_t link = number > 0 ? number : rows.Integer(correlation, 0);
  return link > 0 ? link : kMissing;
}

Result<void> ReadEvents(RocpdTables& tables) {
  enum Column : uint8_t { kId, kCategory, kStack, kCorrelation, kExtra };
  constexpr std::string_view kColumns[] = {"id", "category_id", "stack_id", "correlation_id",
                                           "extdata"};
  RocpdEvents& events = tables.events;
  BS_TRY(tables.ForEach("event", kColumns, [&](const TableRows& rows) {
    events.ids.Add(rows.Integer(kId));
    events.category.push_back(tables.String(rows.Integer(kCategory)));
    events.link.push_back(LinkOf(rows, kStack, kCorrelation));
    const std::string_view extra = rows.Text(kExtra);
    events.message.push_back(extra.size() > 2 ? tables.part.Intern(RocpdMessage(extra))
                                              : StringId{0});
  }));
  CountRepeated(tables, events.ids, "event");
  return {};
}

// Arguments of one event are adjacent.
Result<void> ReadArguments(RocpdTables& tables) {
  enum Column : uint8_t { kEvent, kName, kValue };
  constexpr std::string_view kColumns[] = {"event_id", "name", "value"};
  int64_t event = kMissing;
  std::string text;
  const auto flush = [&] {
    if (event != kMissing) {
      tables.arguments.events.Add(event);
      tables.arguments.text.push_back(tables.part.Intern(text));
    }
    text.clear();
  };
  BS_TRY(tables.ForEach("arg", kColumns, [&](const TableRows& rows) {
    if (rows.Integer(kEvent) != event) {
      flush();
      event = rows.Integer(kEvent);
    }
    text += text.empty() ? "" : ", ";
    text.append(rows.Text(kName)).append("=").append(rows.Text(kValue));
  }));
  flush();
  CountRepeated(tables, tables.arguments.events, "arg");
  return {};
}

}  // namespace

std::string RocpdMessage(std::string_view extdata) {
  JsonCursor cursor(extdata);
  if (!cursor.EnterObject()) {
    return {};
  }
  std::string_view key;
  while (cursor.NextMember(key)) {
    const std::string_view value = cursor.Value();
    if (key == "message" && IsString(value)) {
      return StringText(value);
    }
  }
  return {};
}

TrackId RocpdTables::ThreadOf(int64_t process, int64_t thread, bool is_async) {
  const auto number_of = [&](RocpdNumbers& numbers, int64_t id, std::string_view base) {
    const int64_t number = numbers.Get(id);
    if (number != kMissing) {
      return number;
    }
    diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte, Name(base));
    return id == kMissing ? int64_t{-1} : id;
  };
  const int64_t pid = number_of(processes, process, "info_process");
  const int64_t tid = number_of(threads, thread, "info_thread");
  return is_async ? part.AsyncTrack(pid, tid) : part.Track(TrackKind::kHost, pid, tid);
}

uint32_t RocpdTables::AgentOf(int64_t id) {
  const uint32_t row = id == kMissing ? RowIds::kNone : agents.ids.Find(id);
  if (row == RowIds::kNone && id != kMissing) {
    diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte, Name("info_agent"));
  }
  return row;
}

int64_t RocpdTables::Unique(int64_t process, int64_t number) {
  constexpr unsigned kNumberBits = 47;
  if (number == kMissing || number >> kNumberBits != 0) {
    return number;
  }
  const auto next = static_cast<int64_t>(process_numbers.size());
  const auto [place, is_new] = process_numbers.try_emplace({suffix_number, process}, next);
  constexpr int64_t kMostProcesses = (int64_t{1} << (63 - kNumberBits)) - 1;
  return place->second > kMostProcesses ? kMissing : place->second << kNumberBits | number;
}

Result<void> ReadRocpdInfo(RocpdTables& tables) {
  tables.strings = {};
  tables.processes = {};
  tables.threads = {};
  tables.agents = {};
  tables.symbols = {};
  tables.events = {};
  tables.arguments = {};
  if (tables.Has("string")) {
    BS_TRY(tables.strings.Read(tables.database, tables.schema, tables.Name("string"), "id",
                               "string", tables.part));
  }
  tables.strings.Finish(tables.diagnostics());
  BS_TRY(ReadNumbers(tables, "info_process", "pid", tables.processes));
  BS_TRY(ReadNumbers(tables, "info_thread", "tid", tables.threads));
  BS_TRY(ReadThreadNames(tables));
  BS_TRY(ReadAgents(tables));
  BS_TRY(ReadSymbols(tables));
  BS_TRY(ReadEvents(tables));
  return ReadArguments(tables);
}

}  // namespace borescope::internal
