// SPDX-License-Identifier: Apache-2.0
// Writing the particles of all steps, or reading them again, on one rank.
#pragma once

#include <cmath>
#include <ctime>
#include <variant>

#include "base/clock.hpp"
#include "mpi/agreement.hpp"
#include "storage/array_contents.hpp"
#include "storage/array_file.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/vpic/operations.hpp"
#include "storage/workloads/vpic/vpic.hpp"

namespace ullage {

// An open file of particles, of our own format or of a library's.

class ParticleFile final {
 public:
  /// Opens it through the backend, with its header or with its arrays.
  [[nodiscard]] static Result<ParticleFile> open(Backend& backend, const OpenRequest& request,
                                                 const ParticleLayout& layout, FileFormat format,
                                                 const FileHeader& header) {
    if (format == FileFormat::arrays) {
      const auto specs = layout.arrays();
      auto arrays = backend.open_arrays(request, specs);
      if (!arrays) return fail(arrays.error());
      return ParticleFile(std::move(*arrays));
    }
    auto plain = open_with_header(backend, request, header);
    if (!plain) return fail(plain.error());
    return ParticleFile(std::move(*plain));
  }

  /// Operations [first, first + count); see File and ArrayFile.
  [[nodiscard]] Status transfer(Direction direction, ParticleOperations& operations, std::size_t first,
                                std::size_t count, Meter& meter) {
    if (const auto* extents = std::get_if<std::vector<Extent>>(&operations))
      return plain_->transfer(direction, std::span(*extents).subspan(first, count), meter);
    if (const auto* scattered = std::get_if<std::vector<ScatteredExtent>>(&operations))
      return plain_->transfer_scattered(direction, std::span(*scattered).subspan(first, count), meter);
    return arrays_->transfer(direction, std::span(std::get<std::vector<ArrayRows>>(operations)).subspan(first, count),
                             meter);
  }

  [[nodiscard]] Status sync() { return plain_ ? plain_->sync() : arrays_->sync(); }
  [[nodiscard]] Status close() { return plain_ ? plain_->close() : arrays_->close(); }
  [[nodiscard]] Map hints_granted() const { return plain_ ? plain_->hints_granted() : arrays_->hints_granted(); }

 private:
  explicit ParticleFile(std::unique_ptr<File> plain) : plain_(std::move(plain)) {}
  explicit ParticleFile(std::unique_ptr<ArrayFile> arrays) : arrays_(std::move(arrays)) {}

  std::unique_ptr<File> plain_;  // of the two one is there
  std::unique_ptr<ArrayFile> arrays_;
};

/// Holds what both phases of a repetition share on this rank.
struct VpicState {
  VpicParameters parameters;
  StorageContext context;
  Capabilities capabilities;
  ParticleLayout layout;
  DatasetEntry dataset;
  DataSource source;  // whose particles are read

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::string file_name() const { return dataset.file_name(0); }
};

inline constexpr std::int64_t longest_nap_ns = 100'000'000;  // a sign of life after each

inline void sleep_until(std::int64_t until_ns) {
  const timespec until{.tv_sec = until_ns / 1'000'000'000, .tv_nsec = until_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) continue;
}

/// Returns who converts between the orders of memory and file.
inline std::string converter_of(const ParticleLayout& layout, FileFormat format) {
  if (!layout.converts()) return "none";
  return format == FileFormat::arrays ? "by the library, of fields of records" : "by MPI, of a datatype of the memory";
}

/// Phase `write` or `read`. Operations are the library's calls; between steps the rank sleeps, if it is to compute.
/// Gauges: raw_s, the time of the calls alone, and slept_s.
class VpicPhase final : public PhaseWork {
 public:
  VpicPhase(const VpicState& state, Direction direction)
      : state_(state),
        direction_(direction),
        choice_(direction == Direction::write ? first_particles(state.layout.particles) : state.parameters.choice()),
        owner_(direction == Direction::write ? state.rank() : static_cast<std::uint64_t>(state.source.rank)) {
    const std::uint64_t capacity = writes() ? ParticleMemory::of_all_steps(state.layout) : choice_.particles();
    const std::size_t needed = ParticleMemory::bytes_for(capacity);
    if (state.context.buffer->size() < needed) *state.context.buffer = AlignedBuffer(needed);
    const ParticleMemory held = memory(capacity);
    operations_ = make_operations(
        {&state.layout, state.parameters.format, &held, owner_, choice_, writes() ? ParticleMemory::step_shift : 0});
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = word_of(direction_),
                   .access = writes() ? Access::write : Access::read,
                   .collective = state_.capabilities.collective,
                   .collective_sync = state_.capabilities.collective_sync,
                   .bytes_at_once = choice_.particles() * particle_bytes};
    if (!writes()) {
      info.data_of = state_.source.data_of;
      info.cache_control = word_of(state_.parameters.cache);
      tell_whose(state_.parameters.read_back, state_.source.data_of, info);
    }
    if (state_.capabilities.data && state_.context.world->topology().leader()) info.files.push_back(state_.file_name());
    return info;
  }

  /// Reading begins with memory that nothing was read into, on a file of the right size.
  [[nodiscard]] Status allocate() override {
    if (writes())
      memory(ParticleMemory::of_all_steps(state_.layout)).fill(state_.rank());
    else
      memory(choice_.particles()).poison();
    Backend& backend = *state_.context.backend;
    const OpenMode mode = writes() ? OpenMode::create : OpenMode::read;
    const Status status = backend.make_ready(state_.context.buffer->bytes(), {});
    return status ? backend.ready_open(request_for(mode), state_.layout.arrays()) : status;
  }

  [[nodiscard]] Status before() override {
    if (writes()) return {};
    Status status = check_size();
    if (state_.parameters.cache == DropCache::none) return status;
    if (const Status dropped = drop_file(); status) status = dropped;
    state_.context.world->all().barrier();
    return status;
  }

  [[nodiscard]] std::uint64_t operations() const override { return count_of(operations_); }
  [[nodiscard]] Status open() override { return open_as(writes() ? OpenMode::create : OpenMode::read); }
  /// The time of the calls is read off the meter's own clock. In a collective file a rank in error goes on taking part.
  [[nodiscard]] Status execute(Meter& meter) override {
    if (!file_) return {};
    const std::uint64_t of_step = operations_of_step();
    const std::uint64_t end = first_ + prepared_;
    const bool together = state_.capabilities.collective;
    Status first;
    for (std::uint64_t next = first_; next < end;) {
      const std::uint64_t step_end = std::min((next / of_step + 1) * of_step, end);
      const std::int64_t begun_ns = meter.last_ns();
      const Status moved = file_->transfer(direction_, operations_, static_cast<std::size_t>(next),
                                           static_cast<std::size_t>(step_end - next), meter);
      raw_ns_ += meter.last_ns() - begun_ns;
      keep_first(first, moved);
      if (!together && (!first || !meter.goes_on())) break;
      next = step_end;
      if (first && next % of_step == 0 && next < operations()) compute(meter);
    }
    return first;
  }

  [[nodiscard]] bool wants_sync() const override { return writes() && state_.parameters.sync; }
  [[nodiscard]] Status sync() override { return file_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override {
    if (!file_) return {};
    const Status closed = file_->close();
    granted_ = file_->hints_granted();
    file_.reset();
    return closed;
  }

  /// What was written and is read by no phase is read here.
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    if (!state_.capabilities.data || executed < operations()) return {};
    Verification found;
    const Verify wanted = state_.parameters.verify;
    if (writes()) {
      found = Verification::of(check_size());
      if (!state_.parameters.reads() && wanted != Verify::none) read_again(state_.layout.steps, progress, found);
      return found;
    }
    if (wanted == Verify::none) return found;
    check_step(state_.layout.steps - 1, found);
    if (wanted == Verify::full && state_.layout.steps > 1) read_again(state_.layout.steps - 1, progress, found);
    return found;
  }

  [[nodiscard]] Gauges gauges() const override {
    return {{"raw_s", static_cast<double>(raw_ns_) * 1e-9}, {"slept_s", static_cast<double>(slept_ns_) * 1e-9}};
  }

  void add_facts(Json& facts) const override {
    facts = {{"particles", state_.layout.particles},
             {"steps", state_.layout.steps},
             {"memory", word_of(state_.layout.memory)},
             {"file", word_of(state_.layout.file)},
             {"conversion", converter_of(state_.layout, state_.parameters.format)},
             {"emulated_s", state_.parameters.emulated_s()},
             {"data_bytes", state_.layout.data_bytes()},
             {"file_bytes", file_bytes_}};
    if (writes()) return;
    facts["read"] = word_of(state_.parameters.read);
    facts["particles_read"] = choice_.particles();
    facts["source_rank"] = state_.source.rank;
  }

  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return with_hints_of(*state_.context.backend, granted_); }

 private:
  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }
  [[nodiscard]] std::uint64_t operations_of_step() const { return operations() / state_.layout.steps; }
  [[nodiscard]] ParticleMemory memory(std::uint64_t capacity) const {
    return {state_.layout, capacity, state_.context.run_key, state_.context.buffer->bytes()};
  }

  [[nodiscard]] OpenRequest request_for(OpenMode mode) const {
    return {.name = state_.file_name(), .mode = mode, .shared = true, .expected_bytes = state_.layout.file_bytes()};
  }

  [[nodiscard]] Status open_as(OpenMode mode) {
    auto file = ParticleFile::open(*state_.context.backend, request_for(mode), state_.layout, state_.parameters.format,
                                   {.text = state_.layout.header(),
                                    .name = state_.file_name(),
                                    .collective = state_.capabilities.collective,
                                    .holds_data = state_.capabilities.data,
                                    .writes = state_.context.world->root()});
    if (!file) return fail(file.error());
    file_.emplace(std::move(*file));
    return {};
  }

  [[nodiscard]] Status drop_file() const {
    if (!state_.context.world->topology().leader()) return {};
    return state_.context.backend->drop_cached(state_.file_name());
  }

  void compute(Meter& meter) {
    const auto wanted_ns = static_cast<std::int64_t>(std::llround(state_.parameters.compute_s * 1e9));
    if (wanted_ns == 0) return;
    const std::int64_t begun_ns = now_ns();
    const std::int64_t until_ns = begun_ns + wanted_ns;
    for (std::int64_t now = begun_ns; now < until_ns && meter.goes_on(); now = now_ns()) {
      sleep_until(std::min(until_ns, now + longest_nap_ns));
      meter.report_alive();
    }
    const std::int64_t ended_ns = now_ns();
    slept_ns_ += ended_ns - begun_ns;
    meter.resume(ended_ns);
  }

  /// Our own format has exactly the bytes of the formula; of others the size is noted.
  [[nodiscard]] Status check_size() {
    const StorageContext& context = state_.context;
    if (context.folder == nullptr || !state_.capabilities.path || !context.world->root()) return {};
    const auto found = size_of_file(context, state_.file_name());
    if (!found) return fail(found.error());
    file_bytes_ = *found;
    if (state_.parameters.format != FileFormat::raw) return {};
    return check_size_of_file(context, state_.file_name(), state_.layout.file_bytes(), *found);
  }

  void check_step(std::uint64_t step, Verification& found) const {
    const ParticleCheck check = memory(choice_.particles()).check(owner_, step, choice_);
    found.verified_bytes += choice_.particles() * particle_bytes;
    found.bad_blocks += check.wrong_values;
    if (check.first && !found.first) found.first = wrong_value(step, *check.first);
  }

  /// Collective: the first `steps`, whose memory was used again or never read.
  void read_again(std::uint64_t steps, Meter& progress, Verification& found) {
    const ParticleMemory held = memory(choice_.particles());
    ParticleOperations operations;
    Status status = mpi::agreed_allocation(state_.context.world->all(), [&] {
      operations = make_operations({&state_.layout, state_.parameters.format, &held, owner_, choice_, 0});
    });
    if (!status) {
      found.first = status.error();
      return;
    }
    const std::size_t of_step = count_of(operations) / static_cast<std::size_t>(state_.layout.steps);
    const Map granted = granted_;
    progress.start(now_ns());
    status = open_as(OpenMode::read);
    for (std::uint64_t step = 0; file_ && step < steps && (status || state_.capabilities.collective); ++step) {
      held.poison();
      const Status moved =
          file_->transfer(Direction::read, operations, static_cast<std::size_t>(step) * of_step, of_step, progress);
      keep_first(status, moved);
      if (status) check_step(step, found);
    }
    if (const Status closed = close(); status && !closed) status = closed;
    granted_ = granted;
    if (!status && !found.first) found.first = status.error();
  }

  [[nodiscard]] Error wrong_value(std::uint64_t step, const WrongParticle& wrong) const {
    Error error = verification_error("verify", path_of(state_.context, state_.file_name()),
                                     "'" + std::string(particle_variables[wrong.variable].name) + "' of particle " +
                                         std::to_string(wrong.particle) + " of rank " + std::to_string(owner_) +
                                         " differs in step " + std::to_string(step),
                                     wrong.value.expected, wrong.value.found);
    if (state_.parameters.format == FileFormat::raw)
      error.offset_bytes =
          state_.layout.offset_bytes(step, wrong.variable, owner_ * state_.layout.particles + wrong.particle);
    return error;
  }

  const VpicState& state_;
  Direction direction_;
  ParticleChoice choice_;
  std::uint64_t owner_;  // rank whose particles this one moves
  ParticleOperations operations_;
  std::optional<ParticleFile> file_;
  std::int64_t raw_ns_ = 0;
  std::int64_t slept_ns_ = 0;
  std::uint64_t file_bytes_ = 0;
  Map granted_;
};

}  // namespace ullage
