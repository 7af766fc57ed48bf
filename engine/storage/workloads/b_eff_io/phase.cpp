// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/run.hpp"

#include <nlohmann/json_fwd.hpp>

#include "base/clock.hpp"
#include "mpi/agreement.hpp"
#include "storage/workloads/b_eff_io/loop.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {
namespace {

/// One pattern, `pattern-00` to `pattern-42`; an operation of the meter is one call. The first pattern of a case opens
/// its file, the last one closes it. Gauges: see BEffIoTimes; pattern_s is what a rank accounts, whose most over the
/// ranks is the time of the pattern.
class BEffIoPhase final : public PhaseWork {
 public:
  BEffIoPhase(BEffIoRun& run, std::size_t index)
      : run_(run),
        task_(run.tasks()[index]),
        is_first_(index == 0),
        is_last_(index + 1 == run.tasks().size()),
        place_(run.place_of(task_)) {}

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = task_.pattern.phase_name(),
                   .access = parameters().writes() ? Access::write : Access::read,
                   .collective = true,
                   .collective_sync = true};
    if (!parameters().writes()) {
      info.cache_control = word_of(parameters().cache);
      info.data_of = "own";
    }
    const bool looks = parameters().type == BEffIoType::separated || run_.context().world->topology().leader();
    if (run_.holds_data() && looks) info.files.push_back(run_.file_name());
    return info;
  }

  [[nodiscard]] Status before() override {
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

  [[nodiscard]] std::uint64_t operations() const override { return 1; }  // the loop is one to the runner
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t) override { return 1; }
  /// A pattern begins on all ranks or on none.
  [[nodiscard]] Status open() override {
    Status status;
    if (is_first_) {
      status = run_.open(times_);
      if (!mpi::all_succeeded(run_.everyone(), status)) return status;
    }
    status = run_.set_out(task_, times_);
    ready_ = mpi::all_succeeded(run_.everyone(), status);
    return status;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
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

  [[nodiscard]] bool wants_sync() const override { return parameters().writes(); }
  [[nodiscard]] Status sync() override {
    if (!ready_) return {};
    const std::int64_t begun = now_ns();
    Status status = run_.file()->sync();
    times_.sync = now_ns() - begun;
    barrier();
    return status;
  }

  [[nodiscard]] Status close() override {
    if (run_.file() != nullptr) hints_granted_ = run_.file()->hints_granted();
    return is_last_ ? run_.close(times_) : Status{};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
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

  [[nodiscard]] Gauges gauges() const override { return times_.gauges(); }
  void add_facts(Json& facts) const override {
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

  [[nodiscard]] Map hints_given() const override { return run_.hints_given(task_); }
  [[nodiscard]] Map hints_granted() const override { return hints_granted_; }

 private:
  [[nodiscard]] const BEffIoParameters& parameters() const { return run_.parameters(); }
  [[nodiscard]] bool verifies() const { return !parameters().writes() && parameters().verify == Verify::full; }
  [[nodiscard]] double scheduled_s() const { return task_.pattern.units * parameters().unit_s; }
  void barrier() {
    const std::int64_t begun = now_ns();
    run_.everyone().barrier();
    times_.barrier += now_ns() - begun;
  }

  [[nodiscard]] std::optional<Error> mismatch() const {
    if (!found_.first) return std::nullopt;
    Mismatch first = *found_.first;
    first.offset_bytes = place_.offset_bytes(found_.first_call, first.offset_bytes);
    Error error = wrong_data(run_.context(), run_.file_name(), first);
    error.text +=
        " (pattern " + std::to_string(task_.pattern.number) + ", call " + std::to_string(found_.first_call) + ")";
    return error;
  }

  BEffIoRun& run_;
  const BEffIoTask& task_;
  const bool is_first_;
  const bool is_last_;
  BEffIoPlace place_;
  std::optional<BEffIoBuffers> buffers_;
  bool ready_ = false;  // the same on every rank: file and view are there
  BEffIoTimes times_;
  BEffIoFound found_;
  BEffIoEnd end_ = BEffIoEnd::none;
  std::uint64_t done_ = 0;  // by this rank; by every rank once they have agreed
  Map hints_granted_;
};

}  // namespace

std::unique_ptr<PhaseWork> make_b_eff_io_phase(BEffIoRun& run, std::size_t index) {
  return std::make_unique<BEffIoPhase>(run, index);
}

}  // namespace ullage
