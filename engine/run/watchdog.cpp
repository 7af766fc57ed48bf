// SPDX-License-Identifier: Apache-2.0
#include "run/watchdog.hpp"

#include <unistd.h>

#include <condition_variable>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/signals.hpp"

namespace ullage {
namespace {

constexpr std::chrono::milliseconds tick{100};
constexpr int ticks_per_stop_file_look = 5;
constexpr std::int64_t grace_after_stop_ns = 10'000'000'000;

}  // namespace

Watchdog::Watchdog(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& token) { run(token); }) {}

Watchdog::~Watchdog() = default;

void Watchdog::watch(std::string what, const Meter* meter) {
  const std::scoped_lock lock(mutex_);
  own_ = {std::move(what), meter};
  watch(own_);
}

void Watchdog::rest() {
  const std::scoped_lock lock(mutex_);
  work_.store(nullptr, std::memory_order_relaxed);
}

void Watchdog::run(const std::stop_token& token) {
  std::mutex sleep_mutex;
  std::condition_variable_any wake;
  std::unique_lock sleep(sleep_mutex);
  for (int count = 0; !token.stop_requested(); ++count) {
    wake.wait_for(sleep, token, tick, [] { return false; });
    if (token.stop_requested()) return;
    look();
    if (count % ticks_per_stop_file_look == 0) look_for_stop();
  }
}

void Watchdog::look() {
  std::string hung;
  {
    const std::scoped_lock lock(mutex_);
    const Work* const work = work_.load(std::memory_order_acquire);
    if (work == nullptr) return;
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    const std::int64_t now = now_ns();
    const std::uint64_t progress = work->meter == nullptr ? 0 : work->meter->progress();
    if (turn != seen_turn_ || progress != seen_progress_) {
      seen_turn_ = turn;
      seen_progress_ = progress;
      last_progress_ns_ = now;
    }
    if (now - last_progress_ns_ < options_.limit_ns) return;
    hung = work->what;
    last_progress_ns_ = std::numeric_limits<std::int64_t>::max();  // said once
  }
  if (options_.on_hang) options_.on_hang(hung);
}

void Watchdog::look_for_stop() {
  if (!options_.stop_file.empty() && !stop_file_seen_ && access(options_.stop_file.c_str(), F_OK) == 0) {
    stop_file_seen_ = true;
    if (options_.on_stop_file) options_.on_stop_file();
  }
  if (!StopFlags::instance().requested()) return;
  if (stop_requested_ns_ == 0) stop_requested_ns_ = now_ns();
  if (now_ns() - stop_requested_ns_ > grace_after_stop_ns) StopFlags::instance().stop_now();
}

}  // namespace ullage
