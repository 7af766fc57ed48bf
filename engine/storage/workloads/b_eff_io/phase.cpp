// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/phase.hpp"

#include <array>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "mpi/agreement.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

BEffIoPhase::BEffIoPhase(BEffIoRun& run, std::size_t index)
    : run_(run),
      task_(run.tasks()[index]),
      is_first_(index == 0),
      is_last_(index + 1 == run.tasks().size()),
      place_(run.place_of(task_)) {}

PhaseInfo BEffIoPhase::info() const {
  PhaseInfo info;
  info.name = task_.pattern.phase_name();
  info.access = parameters().writes() ? Access::write : Access::read;
  info.collective = true;
  info.collective_sync = true;
  if (!parameters().writes()) {
    info.cache_control = word_of(parameters().cache);
    info.data_of = "own";
  }
  const bool looks = parameters().type == BEffIoType::separated || run_.context().world->topology().leader();
  if (run_.holds_data() && looks) info.files.push_back(run_.file_name());
  return info;
}

Status BEffIoPhase::before() {
  Status status;
  if (is_first_ && !parameters().writes()) status = run_.control_cache();
  if (Status ready = is_first_ ? run_.ready_open() : Status{}; status) status = std::move(ready);
  const std::int64_t begun = now_ns();
  buffers_.emplace(*run_.context().buffer, run_.contents_of(task_));
  if (parameters().writes())
    buffers_->fill(parameters().access == BEffIoAccess::write ? 1 : 2);
  else
    buffers_->poison();  // verified or not: the first read must not be the one that finds the buffer's pages
  times_.payload += now_ns() - begun;
  return status;
}

/// A pattern begins on all ranks or on none.
Status BEffIoPhase::open() {
  Status status;
  if (is_first_) {
    status = run_.open(times_);
    if (!mpi::all_succeeded(run_.everyone(), status)) return status;
  }
  status = run_.set_out(task_, times_);
  ready_ = mpi::all_succeeded(run_.everyone(), status);
  return status;
}

Status BEffIoPhase::execute(Meter& meter) {
  if (!ready_) return {};
  const Direction direction = parameters().writes() ? Direction::write : Direction::read;
  BEffIoLoop loop({run_.file(), direction, place_.shape.pointer(), verifies(), &run_.everyone(), &*buffers_}, meter,
                  times_);
  if (task_.wanted)
    loop.run(*task_.wanted, run_.allowance_s(task_));
  else
    loop.run(
        {parameters().rule, scheduled_s(),
         b_eff_io_most_calls(task_.pattern, parameters().lmax_bytes, place_.shape.ranks, parameters().most_bytes)});
  barrier();
  done_ = loop.done();
  found_ = loop.found();
  end_ = loop.end() == BEffIoEnd::count && task_.pattern.units == 0 ? BEffIoEnd::once : loop.end();
  return loop.status();
}

void BEffIoPhase::barrier() {
  const std::int64_t begun = now_ns();
  run_.everyone().barrier();
  times_.barrier += now_ns() - begun;
}

Status BEffIoPhase::sync() {
  if (!ready_) return {};
  const std::int64_t begun = now_ns();
  Status status = run_.file()->sync();
  times_.sync = now_ns() - begun;
  barrier();
  return status;
}

Status BEffIoPhase::close() {
  if (run_.file() != nullptr) hints_granted_ = run_.file()->hints_granted();
  return is_last_ ? run_.close(times_) : Status{};
}

Verification BEffIoPhase::after(std::uint64_t, Meter&) {
  const auto own = static_cast<std::int64_t>(done_);
  std::array<std::int64_t, 4> most{own, -own, times_.accounted(), static_cast<std::int64_t>(end_)};
  run_.everyone().max_all(most);
  const BEffIoDone done{static_cast<std::uint64_t>(-most[1]), static_cast<std::uint64_t>(most[0]),
                        static_cast<double>(most[2]) * 1e-9};
  run_.finished(task_, done);
  done_ = done.least;
  end_ = static_cast<BEffIoEnd>(most[3]);
  return {found_.verified_bytes, found_.bad_blocks, mismatch()};
}

std::optional<Error> BEffIoPhase::mismatch() const {
  if (!found_.first) return std::nullopt;
  Mismatch first = *found_.first;
  first.offset_bytes = place_.offset_bytes(found_.first_call, first.offset_bytes);
  Error error = wrong_data(run_.context(), run_.file_name(), first);
  error.text +=
      " (pattern " + std::to_string(task_.pattern.number) + ", call " + std::to_string(found_.first_call) + ")";
  return error;
}

void BEffIoPhase::add_facts(Json& facts) const {
  const BEffIoPattern& pattern = task_.pattern;
  facts = {{"pattern", pattern.number},
           {"type", word_of(pattern.type)},
           {"access", word_of(parameters().access)},
           {"size", word_of(pattern.size)},
           {"chunk_bytes", place_.chunk_bytes},
           {"call_bytes", place_.call_bytes},
           {"units", pattern.units},
           {"position", pattern.position == 0 ? Json() : Json(pattern.position)},
           {"scheduled_s", scheduled_s()},
           {"repetitions", done_},
           {"wanted", task_.wanted ? Json(*task_.wanted) : Json()},
           {"end", word_of(end_)},
           {"displacement_bytes", place_.displacement_bytes},
           {"shared_pointer", place_.shape.pointer() == Pointer::ordered},
           {"verify", word_of(parameters().verify)}};
  if (is_segmented(pattern.type)) facts["segment_bytes"] = place_.shape.segment_bytes;
}

}  // namespace ullage
