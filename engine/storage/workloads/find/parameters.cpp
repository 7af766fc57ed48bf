// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/parameters.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "storage/backend.hpp"
#include "storage/workloads/find/criteria.hpp"

namespace ullage {
namespace {

constexpr std::size_t longest_dataset_name = 64;

// A function, since the table is asked for while other files' statics are still being made.
const Words<FindPhaseKind>& phase_words() {
  static const Words<FindPhaseKind> words{{FindPhaseKind::timestamp, "timestamp"}, {FindPhaseKind::find, "find"}};
  return words;
}

bool is_dataset_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_dataset_name && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

Status check_phases(const FindParameters& p, const std::string& pointer) {
  const bool once = p.phases.size() == 1 || (p.phases.size() == 2 && p.makes_timestamp() && p.finds());
  if (!once) return fail(bad_plan(pointer + "/phases", "must be timestamp, find, or both in this order"));
  if (p.finds()) return {};
  const FindParameters initial;
  for (const auto& [parameter, given] :
       {std::pair("/within", p.within != initial.within), std::pair("/name", p.name != initial.name),
        std::pair("/newer", p.newer != initial.newer), std::pair("/size", p.size != initial.size)})
    if (given) return fail(bad_plan(pointer + parameter, "needs phase find"));
  return {};
}

}  // namespace

const Table<FindParameters>& FindParameters::table() {
  using P = FindParameters;
  static const Table<FindParameters> fields{
      choices("phases", &P::phases, phase_words(),
              "Choose the phases: timestamp makes the file that newer compares with; find walks the folder, all ranks "
              "together."),
      text("within", &P::within, "Search this dataset of the target; empty means everything in the run's folder."),
      text("name", &P::name,
           "Find the entries whose whole base name matches this shell pattern, as find's -name does; empty means any "
           "name."),
      flag("newer", &P::newer,
           "Find only entries modified later, to the nanosecond, than the file that phase timestamp of the case made."),
      text("size", &P::size,
           "Find only entries of this size: [+-]N[cwbkMG] as find's -size, in units rounded up; empty means any size."),
  };
  return fields;
}

Status check_find(const FindParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (!capabilities.path || !capabilities.data)
    return fail(bad_plan(pointer + "/phases", "need a backend that holds files in directories, such as posix"));
  if (auto status = check_phases(p, pointer); !status) return status;
  if (!p.within.empty() && !is_dataset_name(p.within))
    return fail(bad_plan(pointer + "/within", "is '" + p.within + "', must be the name of a dataset"));
  if (p.name.find('\0') != std::string::npos) return fail(bad_plan(pointer + "/name", "must not hold a NUL byte"));
  if (p.size.empty()) return {};
  const auto size = SizeTest::parse(p.size, pointer + "/size");
  return size ? Status{} : fail(size.error());
}

}  // namespace ullage
