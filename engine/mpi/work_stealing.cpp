// SPDX-License-Identifier: Apache-2.0
#include "mpi/work_stealing.hpp"

#include <chrono>
#include <thread>

#include "base/permutation.hpp"
#include "mpi/waits.hpp"

namespace ullage::mpi {
namespace {

enum Kind : int { question, answer_to_it };

/// Ranks that wait must neither take the cores from those that work nor keep them busy with questions.
class Patience final {
 public:
  void wait() {
    if (looks_ < looks_before_a_nap) {
      ++looks_;
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
  }

 private:
  static constexpr int looks_before_a_nap = 64;
  static constexpr std::chrono::microseconds nap{50};
  int looks_ = 0;
};

}  // namespace

WorkStealing::WorkStealing(const Comm& everyone, SharedWork& work)
    : mailbox_(everyone), work_(work), random_(mix64(static_cast<std::uint64_t>(mailbox_.rank()))) {}

/// Reads no further once it has taken work: given away undone, to a rank that then does the same, it would never be
/// done.
void WorkStealing::answer() {
  if (mailbox_.size() == 1) return;
  const std::uint64_t taken_before = taken_;
  while (taken_ == taken_before) {
    const auto letter = mailbox_.look();
    if (!letter) return;
    read(*letter);
  }
}

void WorkStealing::read(const Letter& letter) {
  if (letter.kind == question) {
    std::string given = work_.give();
    if (!given.empty()) ++given_;
    mailbox_.post(letter.from, answer_to_it, std::move(given));
    return;
  }
  asked_ = false;
  if (letter.content.empty() && !letter.is_lost) return;  // a refusal
  ++taken_;
  if (letter.is_lost)
    work_.lose();
  else
    work_.take(letter.content);
}

bool WorkStealing::more() {
  if (mailbox_.size() == 1) return false;
  const Waiting waiting;
  const std::uint64_t taken_before = taken_;
  for (Patience patience;; patience.wait()) {
    answer();
    if (taken_ != taken_before) return true;
    if (nobody_works()) break;
    if (!asked_) ask();
  }
  leave_together();
  return false;
}

void WorkStealing::ask() {
  random_ = mix64(random_);
  const auto others = static_cast<std::uint64_t>(mailbox_.size() - 1);
  const int steps = 1 + static_cast<int>(random_ % others);
  mailbox_.post((mailbox_.rank() + steps) % mailbox_.size(), question, {});
  asked_ = true;
}

/// Called without work. Joins the next round, or sees the end of the one it has joined.
bool WorkStealing::nobody_works() {
  if (!counting_) {
    mailbox_.add({given_, taken_});
    counting_ = true;
  }
  const auto counted = mailbox_.sum();
  if (!counted) return false;
  counting_ = false;
  const auto [given, taken] = *counted;
  const bool over = taken_in_last_round_ == given;
  taken_in_last_round_ = taken;
  return over;
}

/// Whoever is still asked still refuses, until all have had their answers.
void WorkStealing::leave_together() {
  bool ready = false;
  for (Patience patience;; patience.wait()) {
    answer();
    if (!ready && !asked_) {
      mailbox_.add({});
      ready = true;
    }
    if (ready && mailbox_.sum()) return;
  }
}

}  // namespace ullage::mpi
