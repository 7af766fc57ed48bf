// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_phase.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/count.hpp"
#include "storage/backend.hpp"
#include "storage/closing.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t most_slots = 4096;
constexpr std::uint64_t most_slot_bytes = std::uint64_t{16} << 20;

}  // namespace

MixedTransferShape MixedTransferState::shape() const {
  return {written,          written_operations,     parameters->transfer_bytes,
          parameters->pick, parameters->zipf_theta, parameters->read_share,
          parameters->seed};
}

MixedTransferPhase::MixedTransferPhase(const MixedTransferState& state)
    : state_(state),
      pattern_(state.shape(), static_cast<std::uint64_t>(state.context->world->rank()),
               static_cast<std::uint64_t>(state.source_rank)),
      payload_(state.payload),
      ring_(*state.context->buffer, state.parameters->transfer_bytes,
            std::max<std::size_t>(64, state.capabilities.alignment_bytes)) {
  ring_.allocate(std::min(ring_.count_in(most_slot_bytes, most_slots), state.parameters->operations));
  extents_.reserve(ring_.count());
  extent_kinds_.reserve(ring_.count());
}

PhaseInfo MixedTransferPhase::info() const {
  PhaseInfo info;
  info.name = "mixed";
  info.access = parameters().writes() ? Access::write : Access::read;
  info.stonewall_ns = std::llround(parameters().stonewall_s * 1e9);
  info.wear_out = parameters().wear_out;
  info.wear_out_limit_ns = std::llround(parameters().wear_out_limit_s * 1e9);
  info.cache_control = state_.capabilities.direct ? "direct" : word(parameters().cache);
  if (parameters().reads()) info.data_of = state_.data_of;
  if (mixes()) info.parts = {"read", "write"};
  if (state_.looks()) info.files.push_back(state_.file_name());
  tell_whose(parameters().read_back, state_.data_of, info,
             {"every rank works on its own data, since there is no other",
              "there is one node: ranks work on what another rank of the same node wrote"});
  return info;
}

Status MixedTransferPhase::allocate() {
  Status status = state_.context->backend->make_ready(state_.context->buffer->bytes(), {});
  for (const Kind kind : kinds_moved()) keep_first(status, state_.context->backend->ready_open(request_for(kind)));
  return status;
}

Status MixedTransferPhase::before() {
  Status status = refuse_holes();
  keep_first(status, state_.control_cache(parameters().cache));  // collective: also by a rank whose file was refused
  return status;
}

/// Where a stonewall cut the writing short there may be room behind what was written: between the ranks of a shared
/// file, or preallocated.
Status MixedTransferPhase::refuse_holes() const {
  if (!state_.dataset.per_process && !state_.context->world->root()) return {};
  const std::uint64_t all = pattern_.file_bytes();
  const bool whole = state_.written_operations == TransferPattern(state_.written, 0).operations();
  if (!whole && !state_.dataset.per_process) return {};
  if (whole) return check_written(*state_.context->backend, state_.file_name(), all);
  return check_written(*state_.context->backend, state_.file_name(), pattern_.transfers_end_bytes(), all);
}

/// A position may be read twice, so every buffer is poisoned again: what an earlier read left must not pass for a later
/// one's data.
std::uint64_t MixedTransferPhase::prepare(std::uint64_t first, std::uint64_t most) {
  extents_.clear();
  extent_kinds_.clear();
  const std::uint64_t end = first + std::min(most, ring_.count());
  for (std::uint64_t i = first; i < end; ++i) {
    const MixedTransferPattern::Step step = pattern_.at(i);
    const auto buffer = ring_[i];
    if (!step.reads)
      payload_.fill(buffer, static_cast<std::uint64_t>(state_.source_rank), step.offset_bytes);
    else if (verifies())
      Payload::poison(buffer);
    extents_.push_back({step.offset_bytes, buffer.size(), buffer.data()});
    extent_kinds_.push_back(step.reads ? reading : writing);
  }
  prepared_ = std::max(prepared_, end);
  return extents_.size();
}

std::vector<MixedTransferPhase::Kind> MixedTransferPhase::kinds_moved() const {
  std::vector<Kind> moved;
  if (parameters().reads()) moved.push_back(reading);
  if (parameters().writes()) moved.push_back(writing);
  return moved;
}

OpenRequest MixedTransferPhase::request_for(Kind kind) const {
  OpenRequest request;
  request.name = state_.file_name();
  request.shared = !state_.dataset.per_process;
  request.expected_bytes = pattern_.file_bytes();
  request.mode = kind == reading ? OpenMode::read : OpenMode::overwrite;
  return request;
}

Status MixedTransferPhase::open() {
  Status first;
  for (const Kind kind : kinds_moved()) {
    auto file = state_.context->backend->open(request_for(kind));
    keep_first(first, file ? Status{} : fail(file.error()));
    if (file) files_.at(kind) = std::move(*file);
  }
  return first;
}

Status MixedTransferPhase::move(Kind kind, std::span<const Extent> extents, Meter& meter) {
  const std::uint64_t before = meter.operations();
  const Status status = files_.at(kind)->transfer(kind == reading ? Direction::read : Direction::write, extents, meter);
  done_.at(kind) += meter.operations() - before;
  return status;
}

Status MixedTransferPhase::execute(Meter& meter) {
  if (!mixes()) return move(parameters().reads() ? reading : writing, extents_, meter);
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const std::int64_t begun_ns = meter.last_ns();
    if (auto status = move(extent_kinds_[i], std::span(extents_).subspan(i, 1), meter); !status) return status;
    meter.add_part(extent_kinds_[i], meter.last_ns() - begun_ns);
    if (!meter.goes_on()) break;
  }
  return {};
}

Status MixedTransferPhase::sync() { return files_[writing] ? files_[writing]->sync() : Status{}; }

Status MixedTransferPhase::close() {
  Status first;
  for (auto& file : files_) {
    if (!file) continue;
    keep_first(first, close_and_keep_hints(*file, hints_granted_));
    file.reset();
  }
  return first;
}

/// Looks at the operations whose buffers were not made ready for later ones, which a stonewall may have kept back.
Verification MixedTransferPhase::after(std::uint64_t executed, Meter& progress) {
  Verification verification;
  progress.start(now_ns());
  for (std::uint64_t i = prepared_ - std::min(prepared_, ring_.count()); verifies() && i < executed; ++i) {
    const MixedTransferPattern::Step step = pattern_.at(i);
    if (!step.reads) continue;
    const auto found = ring_[i];
    add_check(verification, found.size(),
              payload_.check(found, static_cast<std::uint64_t>(state_.source_rank), step.offset_bytes),
              [this](const Mismatch& wrong) { return wrong_data(*state_.context, state_.file_name(), wrong); });
    (void)progress.completed(found.size());
  }
  return verification;
}

Counters MixedTransferPhase::counters() const {
  return {{"reads", done_[reading]}, {"writes", done_[writing]}, {"positions", pattern_.positions()}};
}

}  // namespace ullage
