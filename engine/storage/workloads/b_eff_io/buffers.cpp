// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/buffers.hpp"

#include <algorithm>

#include "base/count.hpp"
#include "base/permutation.hpp"
#include "storage/buffer_ring.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t most_buffers = 16384;
constexpr std::size_t buffer_distance = 64;

PayloadSpec payload_of(const BEffIoContents& contents, int generation) {
  PayloadSpec spec;
  spec.run_key = mix64(mix64(contents.key ^ static_cast<std::uint64_t>(contents.pattern)) +
                       static_cast<std::uint64_t>(generation));
  spec.transfer_bytes = contents.call_bytes;
  return spec;
}

}  // namespace

BEffIoBuffers::BEffIoBuffers(AlignedBuffer& memory, const BEffIoContents& contents)
    : memory_(memory),
      contents_(contents),
      first_(payload_of(contents, 1)),
      second_(payload_of(contents, 2)),
      ring_(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(cached_bytes / std::max<std::uint64_t>(contents.call_bytes, 1), 1, most_buffers))),
      slot_bytes_(round_up(static_cast<std::size_t>(contents.call_bytes), buffer_distance)),
      slot_(ring_ - 1) {
  if (memory_.size() < ring_ * slot_bytes_) memory_ = AlignedBuffer(ring_ * slot_bytes_);
}

void BEffIoBuffers::fill(int generation) {
  written_ = generation == 1 ? &first_ : &second_;
  for (std::size_t i = 0; i < ring_; ++i) written_->fill(slot(i), contents_.writer, i * contents_.call_bytes);
}

void BEffIoBuffers::poison() {
  for (std::size_t i = 0; i < ring_; ++i) Payload::poison(slot(i));
}

std::span<std::byte> BEffIoBuffers::next_to_write() {
  advance();
  const auto buffer = current();
  if (lap_ > 0) written_->fill(buffer, contents_.writer, offset_bytes());
  return buffer;
}

Payload::Check BEffIoBuffers::check() {
  const std::uint64_t number = call();
  const auto buffer = current();
  Payload::Check found =
      (number < contents_.rewritten ? second_ : first_).check(buffer, contents_.writer, offset_bytes());
  const bool may_be_rewritten = number >= contents_.rewritten && number < contents_.rewritten_by_some;
  if (found.bad_blocks > 0 && may_be_rewritten)
    if (const auto again = second_.check(buffer, contents_.writer, offset_bytes()); again.bad_blocks == 0)
      found = again;
  Payload::poison(buffer);
  if (found.first) found.first->offset_bytes -= offset_bytes();
  return found;
}

}  // namespace ullage
