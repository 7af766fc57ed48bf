// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.hpp"

#include <sched.h>

#include "base/clock.hpp"
#include "base/cpu_order.hpp"

namespace ullage {
namespace {

/// How often a thread looks for the others before it lets somebody else have its core.
constexpr int looks_before_yield = 2000;
constexpr int most_cpus = 8192;

class CpuSet final {
 public:
  CpuSet() : bits_(CPU_ALLOC(most_cpus)) {
    if (bits_ != nullptr) CPU_ZERO_S(size_, bits_);
  }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;
  ~CpuSet() { CPU_FREE(bits_); }
  [[nodiscard]] bool read_own() { return bits_ != nullptr && sched_getaffinity(0, size_, bits_) == 0; }
  [[nodiscard]] bool has(int cpu) const { return CPU_ISSET_S(static_cast<std::size_t>(cpu), size_, bits_) != 0; }
  [[nodiscard]] bool pin_to(int cpu) {
    if (bits_ == nullptr) return false;
    CPU_SET_S(static_cast<std::size_t>(cpu), size_, bits_);
    return sched_setaffinity(0, size_, bits_) == 0;
  }

 private:
  cpu_set_t* bits_;
  std::size_t size_ = CPU_ALLOC_SIZE(most_cpus);
};

}  // namespace

std::vector<int> allowed_cpus() {
  CpuSet set;
  std::vector<int> cpus;
  if (set.read_own())
    for (int cpu = 0; cpu < most_cpus; ++cpu)
      if (set.has(cpu)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cores_first(cpus);
}

std::vector<int> choose_cpus(std::span<const int> cpus, std::size_t first, std::size_t count) {
  std::vector<int> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(cpus[(first + i) % cpus.size()]);
  return chosen;
}

ThreadTeam::ThreadTeam(std::span<const int> cpus) : spans_(cpus.size()) {
  for (std::size_t thread = 0; thread < cpus.size(); ++thread)
    threads_.emplace_back([this, thread, cpu = cpus[thread]] { serve(thread, cpu); });
}

ThreadTeam::~ThreadTeam() {
  {
    const std::scoped_lock lock(mutex_);
    leaves_ = true;
  }
  begin_.notify_all();
}

std::span<const ThreadTeam::Span> ThreadTeam::run(const Task& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  busy_ = threads_.size();
  ++turn_;
  begin_.notify_all();
  ended_.wait(lock, [this] { return busy_ == 0; });
  return spans_;
}

void ThreadTeam::serve(std::size_t thread, int cpu) {
  if (!CpuSet().pin_to(cpu)) ++unpinned_;
  for (std::uint64_t turn = 1;; ++turn) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return leaves_ || turn_ == turn; });
      if (leaves_) return;
    }
    if (task_->around) task_->around(thread);
    meet(turn);
    spans_[thread].start_ns = now_ns();
    task_->body(thread);
    spans_[thread].stop_ns = now_ns();
    if (task_->around) task_->around(thread);
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) ended_.notify_one();
  }
}

/// Waits awake, since being woken takes longer than the threads may be apart.
void ThreadTeam::meet(std::uint64_t turn) {
  ++arrived_;
  for (int looks = 0; arrived_.load(std::memory_order_acquire) < turn * spans_.size(); ++looks)
    if (looks >= looks_before_yield) std::this_thread::yield();
}

}  // namespace ullage
