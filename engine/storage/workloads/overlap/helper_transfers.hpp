// SPDX-License-Identifier: Apache-2.0
// Transfers that helper threads make by blocking calls while their rank computes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/helper_threads.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/helper_clock.hpp"

namespace ullage {

/// One helper for each file, which is open once for each of them: transfer i of a batch goes through file i.
class HelperTransfers final : public NonblockingTransfers {
 public:
  /// The files outlive it, are open when a batch is started, and are the helpers' until wait() has returned.
  explicit HelperTransfers(std::span<const std::unique_ptr<File>> files);
  /// Once, before the first batch. All helpers, or none and the error.
  [[nodiscard]] Status start_threads() { return helpers_.start(files_.size()); }

  /// At most as many as there are files.
  void start(Direction direction, std::span<const Extent> extents) override;
  void test() override {}
  [[nodiscard]] Status wait() override;

 private:
  std::span<const std::unique_ptr<File>> files_;
  // Written before the helpers are told of a batch, and read by them until its end.
  Direction direction_ = Direction::write;
  std::span<const Extent> extents_;
  HelperThreads<Status, HelperClock> helpers_;  // last: they use the others
};

}  // namespace ullage
