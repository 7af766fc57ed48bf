// SPDX-License-Identifier: Apache-2.0
#include "base/workers.hpp"

#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "base/resources.hpp"

namespace ullage {

Workers::~Workers() {
  open(Gate::given_up);
  dismiss();
}

Status Workers::start(std::size_t count, Body body, Dismiss dismiss) {
  Status made = prepare(count, std::move(body), std::move(dismiss));
  if (made) go();
  return made;
}

Status Workers::prepare(std::size_t count, Body body, Dismiss dismiss) {
  body_ = std::move(body);
  dismiss_ = std::move(dismiss);
  running_ = count;
  Status made = catch_resource_errors([&] -> Status {
    threads_.reserve(count);
    while (threads_.size() < count) threads_.emplace_back([this, thread = threads_.size()] { serve(thread); });
    return {};
  });
  if (made) return made;
  open(Gate::given_up);
  threads_.clear();
  return made;
}

/// The first call decides.
void Workers::open(Gate way) {
  if (gate_ != Gate::shut) return;
  dismissed_ = way == Gate::given_up;
  gate_ = way;
  gate_.notify_all();
}

void Workers::dismiss() {
  if (!dismissed_.exchange(true) && dismiss_) dismiss_();
}

bool Workers::ended_by(std::int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::nanoseconds(deadline_ns - now_ns()), [this] { return running_ == 0; });
}

Status Workers::join() {
  threads_.clear();
  dismissed_ = true;
  return first_;
}

void Workers::serve(std::size_t thread) {
  gate_.wait(Gate::shut);
  Status done;
  if (gate_ == Gate::open) done = catch_resource_errors([&] { return body_(thread); });
  const bool failed = !done;
  {
    const std::scoped_lock lock(mutex_);
    if (failed && first_) first_ = std::move(done);
    if (--running_ == 0) ended_.notify_all();
  }
  if (failed) dismiss();
}

}  // namespace ullage
