// SPDX-License-Identifier: Apache-2.0
// A registered stop rule by its name, for tests.
#pragma once

#include "run/stop_rule.hpp"

namespace ullage {

inline std::unique_ptr<StopRule> make_rule(const std::string& name, const Values& given) {
  const auto* entry = Registry<StopRuleEntry>::instance().find(name);
  return entry->make(*complete(entry->description.parameters, given, ""));
}

}  // namespace ullage
