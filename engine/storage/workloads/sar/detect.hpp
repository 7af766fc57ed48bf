// SPDX-License-Identifier: Apache-2.0
// Phase `k4` of workload `sar`: reads the templates once, then groups of sub-images in the order in which K3 wrote
// them, and appends a record for each sub-image to the rank's file of records.
#pragma once

#include <memory>
#include <vector>

#include "storage/workloads/sar/phase.hpp"

namespace ullage {

/// An operation is one group. The templates are read while the phase opens its files.
class DetectPhase final : public SarPhase {
 public:
  explicit DetectPhase(const SarState& state);

  [[nodiscard]] Status before() override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] bool wants_sync() const override { return state_.parameters.sync != SarSync::none; }
  [[nodiscard]] Status sync() override { return records_ ? records_->sync() : Status{}; }
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;

 protected:
  void ready(std::uint64_t operation, std::size_t slot) override;
  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override;
  [[nodiscard]] Status open_again() override;
  [[nodiscard]] Status read_again(std::size_t slot) override;
  [[nodiscard]] Status close_again() override { return close(); }
  void check(std::uint64_t operation, std::size_t slot) override;
  [[nodiscard]] std::vector<std::string> files_read() const override;

 private:
  struct Planned {
    Extent group;
    std::vector<Extent> records;
  };
  [[nodiscard]] std::span<std::byte> group_in(std::size_t slot) const;
  [[nodiscard]] std::span<std::byte> records_in(std::size_t slot) const;
  [[nodiscard]] Status read_templates();
  void check_templates();
  [[nodiscard]] Status check_records(std::uint64_t executed, Meter& progress);

  PairOrder order_;               // of the groups, by the rank that wrote them
  std::vector<Planned> planned_;  // by slot
  std::vector<OpenRequest> templates_;
  std::vector<Extent> template_extents_;
  OpenRequest detections_request_;
  OpenRequest records_request_;
  std::unique_ptr<File> detections_;
  std::unique_ptr<File> records_;
};

}  // namespace ullage
