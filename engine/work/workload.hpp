// SPDX-License-Identifier: Apache-2.0
// What a case does, cut into phases. Which operation comes next is a pure pattern; this binds it to a backend and
// buffers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned_buffer.hpp"
#include "base/registry.hpp"
#include "mpi/comm.hpp"
#include "work/layout.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// Of storage/, which lies above: who works on a target includes them from there.
class Backend;
class DatasetBook;
class RunFolder;
struct Capabilities;

/// What one repetition takes of a target at its fullest, over all ranks.
struct Needs {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
};

/// Everything a workload is bound to; outlives it.
struct WorkloadContext {
  const mpi::World* world = nullptr;
  const RunFolder* folder = nullptr;  // null without a path
  Backend* backend = nullptr;
  AlignedBuffer* buffer = nullptr;  // grown as needed, kept between cases
  std::string case_id;
  std::uint64_t run_key = 0;        // differs for every repetition
  std::string dataset;              // named: outlives the repetition; empty: one of its own, named by the case id
  DatasetBook* datasets = nullptr;  // of the target; facts of the named ones
  bool keep = false;                // the dataset stays after the last repetition
  int part = 0;                     // of the ranks that share the folder, this one's number and their count
  int parts = 1;
  bool lists_datasets = false;  // this rank writes the manifest of its file system

  [[nodiscard]] const std::string& dataset_name() const { return dataset.empty() ? case_id : dataset; }
  [[nodiscard]] bool stays() const { return keep || !dataset.empty(); }
};

/// One repetition of a case on this rank. begin, each phase in order, end: all collective, every rank takes part in all
/// of them.
class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  [[nodiscard]] virtual Status begin() = 0;
  [[nodiscard]] virtual std::size_t phases() const = 0;
  [[nodiscard]] virtual std::unique_ptr<PhaseWork> phase(std::size_t index) = 0;
  /// Removes what begin() and the phases made, unless it stays and all of it is `whole`: no phase failed or was cut
  /// short.
  [[nodiscard]] virtual Status end(bool whole) = 0;
};

struct WorkloadEntry {
  Description description;
  /// Checks that span parameters, against the backend's capabilities and the layout. `pointer` is that of the
  /// parameters object.
  std::function<Status(const Values&, const Capabilities&, const PlannedLayout&, const std::string& pointer)> check;
  std::function<Needs(const Values&, const PlannedLayout&)> needs;
  std::function<std::unique_ptr<Workload>(const Values&, const WorkloadContext&)> make;
  /// Whether it works on a dataset that another case has made, which the plan must name; null: never.
  std::function<bool(const Values&)> uses_dataset = nullptr;
  bool needs_storage = true;  // false: works on cores and memory, and the case's backend is `null`
};

// Compiled in workload.cpp.
extern template class Registry<WorkloadEntry>;
extern template struct Registered<WorkloadEntry>;

}  // namespace ullage
