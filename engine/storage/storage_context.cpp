// SPDX-License-Identifier: Apache-2.0
#include "storage/storage_context.hpp"

#include <utility>

#include "base/payload.hpp"

namespace ullage {

const nlohmann::json* DatasetFacts::find(const std::string& name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? nullptr : &found->second;
}

Status DatasetFacts::enter(const std::string& name, nlohmann::json facts) {
  facts["contents"] = Payload::version;
  Status kept = keep_ ? keep_(name, facts) : Status{};
  facts_[name] = std::move(facts);
  return kept;
}

Status DatasetFacts::remove(const std::string& name) {
  if (facts_.erase(name) == 0 || !keep_) return {};
  return keep_(name, nullptr);
}

Error no_dataset(const std::string& name) {
  return environment_error("dataset '" + name + "'", "is not there; first run the case that makes it");
}

}  // namespace ullage
