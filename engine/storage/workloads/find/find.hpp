// SPDX-License-Identifier: Apache-2.0
// The words of workload `find`, which are GNU find's where it has one.
#pragma once

#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "storage/backend.hpp"

namespace ullage {

enum class FindPhaseKind { timestamp, find };

struct FindParameters {
  std::vector<FindPhaseKind> phases{FindPhaseKind::find};
  std::string within;
  std::string name;
  bool newer = false;
  std::string size;

  [[nodiscard]] static const Table<FindParameters>& table();
  [[nodiscard]] bool makes_timestamp() const { return phases.front() == FindPhaseKind::timestamp; }
  [[nodiscard]] bool finds() const { return phases.back() == FindPhaseKind::find; }
};

/// Rules that span parameters, and the form of the words; the pointer is that of the parameters object.
[[nodiscard]] Status check_find(const FindParameters& parameters, const Capabilities& capabilities,
                                const std::string& pointer);

}  // namespace ullage
