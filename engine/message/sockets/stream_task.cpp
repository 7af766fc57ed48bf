// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/stream_task.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>

#include "base/clock.hpp"
#include "base/permutation.hpp"

namespace ullage {

std::vector<std::byte> keyed_block(std::uint64_t key, std::uint64_t rank, std::uint64_t stream, std::size_t bytes) {
  std::vector<std::byte> block(bytes);
  const std::uint64_t own = mix64(mix64(key ^ rank) + stream);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix64(own + at);
    std::memcpy(block.data() + at, &word, std::min(sizeof word, bytes - at));
  }
  return block;
}

void BlockCheck::check(std::uint64_t offset, std::span<const std::byte> piece) {
  while (!piece.empty()) {
    const auto at = static_cast<std::size_t>(offset % block_.size());
    const std::size_t length = std::min(piece.size(), block_.size() - at);
    const bool is_bad = std::memcmp(piece.data(), block_.data() + at, length) != 0;
    if (is_bad && bad_pieces_ == 0) first_bad_offset_ = offset;
    bad_pieces_ += is_bad ? 1 : 0;
    checked_bytes_ += length;
    offset += length;
    piece = piece.subspan(length);
  }
}

namespace {

std::int64_t own_process_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::uint64_t MeasuredWindow::sum() const {
  std::uint64_t bytes = 0;
  for (const auto& task : tasks_) bytes += task->tally().bytes();
  return bytes;
}

void MeasuredWindow::begin() {
  cpu_begin_ns_ = own_process_ns();
  begin_bytes_ = end_bytes_ = sum();
  begin_ns_ = end_ns_ = now_ns();
}

void MeasuredWindow::look(Meter& meter) {
  const std::uint64_t messages = (sum() - begin_bytes_) / block_bytes_;
  (void)meter.completed_many(messages - told_messages_, (messages - told_messages_) * block_bytes_);
  told_messages_ = messages;
  meter.report_alive();
}

void MeasuredWindow::end(Meter& meter) {
  end_bytes_ = sum();
  end_ns_ = now_ns();
  cpu_end_ns_ = own_process_ns();
  look(meter);
}

}  // namespace ullage
