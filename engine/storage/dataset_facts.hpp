// SPDX-License-Identifier: Apache-2.0
// What is known of the named datasets at one target, which one case makes and others use.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.hpp"

namespace ullage {

/// Facts of every dataset, by name: what a case must know to use what another has made. The same on every rank, since
/// every rank enters the same.
class DatasetFacts final {
 public:
  /// Makes what is entered outlive the launch; called on the rank that keeps a file system's books.
  using Keep = std::function<Status(const std::string& name, const nlohmann::json& facts)>;
  DatasetFacts() = default;
  DatasetFacts(std::map<std::string, nlohmann::json> known, Keep keep)
      : facts_(std::move(known)), keep_(std::move(keep)) {}

  /// Null when there is no such dataset. Facts tell under `contents` by which version of the payload its data was made.
  [[nodiscard]] const nlohmann::json* find(const std::string& name) const;
  [[nodiscard]] Status enter(const std::string& name, nlohmann::json facts);
  /// The dataset is gone, or no longer whole.
  [[nodiscard]] Status remove(const std::string& name);

 private:
  std::map<std::string, nlohmann::json> facts_;
  Keep keep_;
};

[[nodiscard]] Error no_dataset(const std::string& name);

}  // namespace ullage
