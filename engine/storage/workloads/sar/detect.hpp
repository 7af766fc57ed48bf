// SPDX-License-Identifier: Apache-2.0
// Phase `k4` of workload `sar`: reads the templates once, then groups of sub-images in the order in which K3 wrote
// them, and appends a record for each sub-image to the rank's file of records.
#pragma once

#include "base/clock.hpp"
#include "base/std.hpp"
#include "storage/workloads/sar/phase.hpp"
#include "storage/workloads/sar/sar.hpp"

namespace ullage {

/// An operation is one group. The templates are read while the phase opens its files.
class DetectPhase final : public SarPhase {
 public:
  /// The source has read the images of source_owner, and this rank reads what it has found in them.
  explicit DetectPhase(const SarState& state)
      : SarPhase(state, {"k4",
                         Access::read,
                         {SarPart::transfer, SarPart::write},
                         state.shape.pairs_of(state.source_owner),
                         static_cast<std::size_t>(state.shape.group_bytes() + state.shape.records_bytes()),
                         static_cast<std::size_t>(state.parameters.templates * state.parameters.template_bytes)}),
        order_(state.shape, state.source_owner) {}

  [[nodiscard]] Status before() override {
    const ImageGrid& files = state_.files();
    const SarShape& shape = state_.shape;
    detections_request_ =
        request_of(files.detections_path(state_.source_rank()), OpenMode::read, operations() * shape.group_bytes());
    records_request_ =
        request_of(files.records_path(state_.rank()), OpenMode::create, operations() * shape.records_bytes());
    templates_.clear();
    template_extents_.clear();
    if (operations() == 0) return {};
    const auto bytes = static_cast<std::size_t>(state_.parameters.template_bytes);
    for (std::uint64_t i = 0; i < files.templates; ++i) {
      templates_.push_back(request_of(files.template_path(i), OpenMode::read, bytes));
      template_extents_.push_back({0, bytes, &extra()[static_cast<std::size_t>(i) * bytes]});
    }
    if (verifies()) Payload::poison(extra());
    std::vector<OpenRequest> opened = templates_;
    opened.push_back(detections_request_);
    opened.push_back(records_request_);
    for (const OpenRequest& request : opened)
      if (auto status = state_.context.backend->ready_open(request); !status) return status;
    return SarPhase::before();
  }

  [[nodiscard]] Status open() override {
    if (operations() == 0) return {};
    if (auto status = read_templates(); !status) return status;
    Backend& backend = *state_.context.backend;
    if (auto status = take_into(detections_, backend.open(detections_request_)); !status) return status;
    if (auto status = take_into(records_, backend.open(records_request_)); !status) return status;
    files_besides_ += 2;
    return {};
  }

  [[nodiscard]] bool wants_sync() const override { return state_.parameters.sync != SarSync::none; }
  [[nodiscard]] Status sync() override { return records_ ? records_->sync() : Status{}; }

  [[nodiscard]] Status close() override {
    Status first;
    for (std::unique_ptr<File>* const file : {&detections_, &records_}) {
      if (!*file) continue;
      keep_first(first, (*file)->close());
      file->reset();
    }
    return first;
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    Verification found = SarPhase::after(executed, progress);
    if (!verifies() || executed == 0) return found;
    check_templates();
    const Status read = check_records(executed, progress);
    found = verification_;
    if (!read && !found.first) found.first = read.error();
    return found;
  }

 protected:
  void ready(std::uint64_t operation, std::size_t slot) override {
    const SarShape& shape = state_.shape;
    if (planned_.size() <= slot) planned_.resize(slot + 1);
    Planned& planned = planned_[slot];
    const auto group = group_in(slot);
    const auto records = records_in(slot);
    planned.group = {operation * shape.group_bytes(), group.size(), group.data()};
    contents_.fill(SarData::records, records, records_position_bytes(shape, order_(operation)));
    planned.records.clear();
    for (std::uint64_t at = 0; at < records.size(); at += SarShape::record_bytes)
      planned.records.push_back(
          {operation * shape.records_bytes() + at, SarShape::record_bytes, &records[static_cast<std::size_t>(at)]});
  }

  [[nodiscard]] Result<std::uint64_t> operate(std::size_t slot) override {
    const Planned& planned = planned_[slot];
    Status status = calls_.move(*detections_, Direction::read, {&planned.group, 1}, SarPart::transfer);
    if (status) status = calls_.move(*records_, Direction::write, planned.records, SarPart::write);
    if (!status) return fail(status.error());
    ++images_;
    subimages_ += state_.shape.subimages;
    written_bytes_ += state_.shape.records_bytes();
    return planned.group.length_bytes;
  }

  [[nodiscard]] Status open_again() override {
    return take_into(detections_, state_.context.backend->open(detections_request_));
  }

  [[nodiscard]] Status read_again(std::size_t slot) override {
    return calls_.move(*detections_, Direction::read, {&planned_[slot].group, 1}, SarPart::transfer);
  }

  [[nodiscard]] Status close_again() override { return close(); }

  void check(std::uint64_t operation, std::size_t slot) override {
    const SarShape& shape = state_.shape;
    const ImageAt earlier = order_(operation);
    const auto group = group_in(slot);
    std::vector<Extent> runs;
    runs_of(shape, earlier, image_position_bytes(shape, {earlier.location, earlier.time + 1}), group, runs);
    for (const Extent& run : runs)
      check_bytes({run.data, run.length_bytes},
                  {SarData::images, run.offset_bytes, detections_request_.name,
                   operation * shape.group_bytes() + static_cast<std::uint64_t>(run.data - group.data())});
  }

  [[nodiscard]] std::vector<std::string> files_read() const override {
    std::vector<std::string> names{detections_request_.name};
    for (const OpenRequest& request : templates_) names.push_back(request.name);
    return names;
  }

 private:
  struct Planned {
    Extent group;
    std::vector<Extent> records;
  };

  [[nodiscard]] std::span<std::byte> group_in(std::size_t slot) const {
    return slot_at(slot).first(static_cast<std::size_t>(state_.shape.group_bytes()));
  }

  [[nodiscard]] std::span<std::byte> records_in(std::size_t slot) const {
    return slot_at(slot).subspan(static_cast<std::size_t>(state_.shape.group_bytes()));
  }

  [[nodiscard]] Status read_templates() {
    for (std::size_t i = 0; i < templates_.size(); ++i) {
      const auto file = state_.context.backend->open(templates_[i]);
      if (!file) return fail(file.error());
      Status status = (*file)->transfer(Direction::read, {&template_extents_[i], 1}, calls_.ticked());
      if (status) status = (*file)->close();
      if (!status) return status;
      ++files_besides_;
      uncounted_bytes_ += template_extents_[i].length_bytes;
    }
    return {};
  }

  void check_templates() {
    const std::uint64_t bytes = state_.parameters.template_bytes;
    for (std::size_t i = 0; i < templates_.size(); ++i)
      check_bytes({template_extents_[i].data, template_extents_[i].length_bytes},
                  {SarData::templates, i * bytes, templates_[i].name, 0});
  }

  /// The records are read back, since no other phase reads them.
  [[nodiscard]] Status check_records(std::uint64_t executed, Meter& progress) {
    OpenRequest request = records_request_;
    request.mode = OpenMode::read;
    const auto file = state_.context.backend->open(request);
    if (!file) return fail(file.error());
    const SarShape& shape = state_.shape;
    const auto data = records_in(0);
    progress.start(now_ns());
    for (std::uint64_t i = 0; i < executed; ++i) {
      Payload::poison(data);
      const Extent extent{i * shape.records_bytes(), data.size(), data.data()};
      if (auto status = (*file)->transfer(Direction::read, {&extent, 1}, progress); !status) return status;
      check_bytes(data,
                  {SarData::records, records_position_bytes(shape, order_(i)), request.name, extent.offset_bytes});
    }
    return (*file)->close();
  }

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
