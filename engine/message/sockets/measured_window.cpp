// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/measured_window.hpp"

#include <ctime>

#include "base/clock.hpp"

namespace ullage {
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
