// SPDX-License-Identifier: Apache-2.0
// What work on a target is bound to.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/aligned_buffer.hpp"
#include "base/payload.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "storage/backend.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

// What is known of the named datasets at one target, which one case makes and others use.

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
  [[nodiscard]] const nlohmann::json* find(const std::string& name) const {
    const auto found = facts_.find(name);
    return found == facts_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] Status enter(const std::string& name, nlohmann::json facts) {
    facts["contents"] = Payload::version;
    Status kept = keep_ ? keep_(name, facts) : Status{};
    facts_[name] = std::move(facts);
    return kept;
  }

  /// The dataset is gone, or no longer whole.
  [[nodiscard]] Status remove(const std::string& name) {
    if (facts_.erase(name) == 0 || !keep_) return {};
    return keep_(name, nullptr);
  }

 private:
  std::map<std::string, nlohmann::json> facts_;
  Keep keep_;
};

[[nodiscard]] inline Error no_dataset(const std::string& name) {
  return environment_error("dataset '" + name + "'", "is not there; first run the case that makes it");
}

/// Everything a case on storage needs besides its parameters; outlives the workload.
struct StorageContext {
  const mpi::World* world = nullptr;
  const RunFolder* folder = nullptr;  // null without a path
  Backend* backend = nullptr;
  AlignedBuffer* buffer = nullptr;  // grown as needed, kept between cases
  std::string case_id;
  std::uint64_t run_key = 0;         // differs for every repetition
  std::string dataset;               // named: outlives the repetition; empty: one of its own, named by the case id
  DatasetFacts* datasets = nullptr;  // of the target; facts of the named ones
  bool keep = false;                 // the dataset stays after the last repetition
  int part = 0;                      // of the ranks that share the folder, this one's number and their count
  int parts = 1;
  bool writes_manifest = false;  // this rank writes the manifest of its file system
  std::string target;
  std::uint64_t room_bytes = 0;       // that this rank may take there, where there are further targets
  std::vector<StorageContext> spill;  // further targets, in this order, for data that finds no room at those before

  [[nodiscard]] const std::string& dataset_name() const { return dataset.empty() ? case_id : dataset; }
  [[nodiscard]] bool stays() const { return keep || !dataset.empty(); }
};

}  // namespace ullage
