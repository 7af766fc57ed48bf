// SPDX-License-Identifier: Apache-2.0
// Writing a FLASH file, and reading it again, on one rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/array_contents.hpp"
#include "storage/array_file.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/flash/flash.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// Arrays one after the other in a plain file, behind a header of ours: what any backend's file can hold.

struct RawArraysRequest {
  OpenRequest file;
  std::span<const ArraySpec> arrays;
  bool collective = false;    // operations of the file are
  bool holds_data = true;     // what is read can be what was written
  bool writes_header = true;  // this rank does so
};

/// Opens a file through the backend, and writes its header or reads it and compares it.
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_raw_arrays(Backend& backend, const RawArraysRequest& request);

/// Holds what both phases of a repetition share on this rank.
struct FlashState {
  const FlashParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;
  FlashLayout layout;
  std::vector<ArraySpec> arrays;
  std::uint64_t first_block = 0;
  std::uint64_t blocks = 0;  // of this rank

  [[nodiscard]] std::uint64_t rank_bytes() const { return blocks * layout.block_bytes(); }
};

/// One operation for each array: this rank's blocks of it. Open is the header, with the definition of the arrays.
class FlashPhase final : public PhaseWork {
 public:
  FlashPhase(const FlashState& state, Direction direction);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return rows_.size(); }
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return writes() && state_.parameters->sync; }
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override;

 private:
  [[nodiscard]] OpenRequest open_request() const;
  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }
  [[nodiscard]] Status move(std::uint64_t first, std::uint64_t end, Meter& meter);
  [[nodiscard]] ElementRun run_of(std::size_t array) const;
  [[nodiscard]] std::span<std::byte> data_of(std::size_t array) const;
  [[nodiscard]] Status drop_file() const;
  [[nodiscard]] Verification check_size();
  [[nodiscard]] Verification check_data(std::uint64_t executed, Meter& progress) const;
  [[nodiscard]] Error wrong_element(std::size_t array, const WrongElement& wrong) const;
  [[nodiscard]] std::string file_name() const { return state_.dataset.file_name(0); }

  const FlashState& state_;
  Direction direction_;
  std::vector<ArrayRows> rows_;
  std::unique_ptr<ArrayFile> file_;
  std::int64_t metadata_ns_ = 0;
  std::int64_t unknowns_ns_ = 0;
  std::uint64_t file_bytes_ = 0;
  Map granted_;
};

}  // namespace ullage
