// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/calls.hpp"

#include <utility>

namespace ullage {

std::string word(SarPart part) {
  static constexpr std::array<const char*, sar_part_count> words{"open",  "transfer", "subimages",
                                                                 "write", "sync",     "close"};
  return words.at(static_cast<std::size_t>(part));
}

SarCalls::SarCalls(Backend& backend, std::vector<SarPart> parts)
    : backend_(backend), parts_(std::move(parts)), ticked_(std::make_unique<Meter>()) {
  ticked_->only_count();
  ticked_->start(ticked_->clock_ns());
}

std::vector<std::string> SarCalls::part_names() const {
  std::vector<std::string> names;
  names.reserve(parts_.size());
  for (const SarPart part : parts_) names.push_back(word(part));
  return names;
}

void SarCalls::begin(Meter& meter) noexcept {
  meter_ = &meter;
  last_ns_ = meter.last_ns();
  took_ns_.fill(0);
}

void SarCalls::took(SarPart part) noexcept {
  const std::int64_t now = meter_->clock_ns();
  took_ns_[static_cast<std::size_t>(part)] += now - last_ns_;
  last_ns_ = now;
}

Result<std::unique_ptr<File>> SarCalls::open(const OpenRequest& request) {
  auto file = backend_.open(request);
  if (file) ++files_;
  took(SarPart::open);
  return file;
}

Status SarCalls::move(File& file, Direction direction, std::span<const Extent> extents, SarPart part) {
  ticked_->resume(last_ns_);
  Status status = file.transfer(direction, extents, *ticked_);
  took(part);
  return status;
}

Status SarCalls::sync(File& file) {
  Status status = file.sync();
  took(SarPart::sync);
  return status;
}

Status SarCalls::close(File& file) {
  Status status = file.close();
  took(SarPart::close);
  return status;
}

void SarCalls::done() noexcept {
  for (std::size_t i = 0; i < parts_.size(); ++i) meter_->add_part(i, took_ns_[static_cast<std::size_t>(parts_[i])]);
}

}  // namespace ullage
