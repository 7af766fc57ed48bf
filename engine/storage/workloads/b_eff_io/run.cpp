// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/run.hpp"

#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

Pointer BEffIoFileShape::pointer() const {
  if (type == BEffIoType::shared && shared_pointer) return Pointer::ordered;
  return is_collective(type) ? Pointer::together : Pointer::individual;
}

std::uint64_t BEffIoPlace::offset_bytes(std::uint64_t call, std::uint64_t byte) const {
  if (!shape.alternates()) return shape.rank * shape.segment_bytes + displacement_bytes + call * call_bytes + byte;
  const std::uint64_t chunk = call * (call_bytes / chunk_bytes) + byte / chunk_bytes;
  return displacement_bytes + (chunk * shape.ranks + shape.rank) * chunk_bytes + byte % chunk_bytes;
}

std::uint64_t BEffIoPlace::extent_bytes(std::uint64_t calls) const {
  return calls * call_bytes * (shape.alternates() ? shape.ranks : 1);
}

FileView BEffIoPlace::view() const {
  if (shape.has_strided_view())
    return {displacement_bytes, chunk_bytes, static_cast<int>(shape.rank), static_cast<int>(shape.ranks)};
  const std::uint64_t own_part = is_segmented(shape.type) ? shape.rank * shape.segment_bytes : 0;
  return {own_part + displacement_bytes, 0, 0, 1};
}

BEffIoRun::BEffIoRun(BEffIoParameters parameters, const StorageContext& context)
    : parameters_(std::move(parameters)), context_(context) {
  const auto ranks = static_cast<std::uint64_t>(context.world->size());
  const bool per_process = parameters_.type == BEffIoType::separated;
  shape_ = {parameters_.type, parameters_.shared_pointer, ranks, static_cast<std::uint64_t>(context.world->rank()), 0};
  entry_.dataset = context.dataset_name();
  entry_.directory = directory_of_dataset(entry_.dataset);
  entry_.files = per_process ? ranks : 1;
  entry_.per_process = per_process;
  entry_.side_files = true;
  dataset_.key = context.run_key;
}

LocalSteps BEffIoRun::begin() {
  LocalSteps steps{{"find patterns", [this] { return find_tasks(); }}};
  if (parameters_.access != BEffIoAccess::write) return steps;
  if (!context_.dataset.empty()) steps.push_back(step_to_remove_facts(context_));
  if (makes_files()) append(steps, steps_to_make_tree(context_, entry_));
  return steps;
}

Status BEffIoRun::find_tasks() {
  if (parameters_.access != BEffIoAccess::write) return find_made();
  if (is_segmented(parameters_.type)) return find_segment();
  for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type))
    add_task(pattern, pattern.units == 0 ? std::optional<std::uint64_t>(1) : std::nullopt, {});
  return {};
}

Status BEffIoRun::find_made() {
  const auto facts = facts_of_dataset(context_, b_eff_io_layout(parameters_, context_.world->size()));
  if (!facts) return fail(facts.error());
  dataset_ = BEffIoDataset::from(*facts);
  shape_.segment_bytes = dataset_.segment_bytes;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type))
    if (const auto made = dataset_.patterns.find(pattern.number); made != dataset_.patterns.end())
      add_task(pattern, made->second.count, made->second);
  return {};
}

/// A pattern that is skipped leaves its part of the segment empty.
Status BEffIoRun::find_segment() {
  const auto made = b_eff_io_first_writes(*context_.datasets, parameters_, context_.world->size());
  if (!made) return fail(made.error());
  BEffIoCounts most;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type))
    most[pattern.size] = b_eff_io_most_calls(pattern, parameters_.lmax_bytes, shape_.ranks, parameters_.most_bytes);
  const BEffIoSegment segment = b_eff_io_segment(parameters_.lmax_bytes, *made, most);
  shape_.segment_bytes = dataset_.segment_bytes = segment.bytes;
  std::uint64_t displacement = 0;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(parameters_.type)) {
    const std::uint64_t count = segment.counts.at(pattern.size);
    if (count > 0) add_task(pattern, count, {count, displacement, 0, 0});
    displacement += count * b_eff_io_call_bytes(pattern, parameters_.lmax_bytes, displacement, segment.bytes);
  }
  return {};
}

void BEffIoRun::add_task(const BEffIoPattern& pattern, std::optional<std::uint64_t> wanted, const BEffIoMade& made) {
  if (parameters_.skips(pattern.number)) return;
  const double before_s = tasks_.empty() ? 0 : tasks_.back().scheduled_until_s;
  tasks_.push_back({pattern, wanted, made, before_s + pattern.units * parameters_.unit_s});
}

std::string BEffIoRun::file_name() const { return entry_.file_name(entry_.per_process ? shape_.rank : 0); }

BEffIoPlace BEffIoRun::place_of(const BEffIoTask& task) const {
  const std::uint64_t displacement = has_fixed_places() ? task.made.displacement_bytes : ends_at_;
  const std::uint64_t call_bytes =
      b_eff_io_call_bytes(task.pattern, parameters_.lmax_bytes, displacement, shape_.segment_bytes);
  const std::uint64_t chunk_bytes =
      task.pattern.size == BEffIoSize::fill_up ? call_bytes : task.pattern.chunk_bytes(parameters_.lmax_bytes);
  return {shape_, displacement, chunk_bytes, call_bytes};
}

BEffIoContents BEffIoRun::contents_of(const BEffIoTask& task) const {
  return {dataset_.key, task.pattern.number, place_of(task).call_bytes,
          shape_.rank,  task.made.rewritten, task.made.rewritten_by_some};
}

double BEffIoRun::allowance_s(const BEffIoTask& task) const {
  if (parameters_.overtime == 0) return std::numeric_limits<double>::infinity();
  return parameters_.overtime * task.scheduled_until_s - took_s_;
}

Map BEffIoRun::hints_given(const BEffIoTask& task) const {
  Map hints = context_.backend->hints_given();
  for (const auto& [key, value] : parameters_.hints_of("on_open")) hints[key] = value;
  for (const auto& [key, value] : parameters_.hints_of(task.pattern.hint_chunk())) hints[key] = value;
  return hints;
}

OpenRequest BEffIoRun::open_request() const {
  OpenRequest request;
  request.name = file_name();
  request.shared = !entry_.per_process;
  request.expected_bytes = is_segmented(parameters_.type) ? shape_.segment_bytes * shape_.ranks : 0;
  request.unique = parameters_.unique_open;
  request.mode = parameters_.access == BEffIoAccess::write     ? OpenMode::create
                 : parameters_.access == BEffIoAccess::rewrite ? OpenMode::overwrite
                                                               : OpenMode::read;
  return request;
}

Status BEffIoRun::ready_open() const { return context_.backend->ready_open(open_request()); }

Status BEffIoRun::open(BEffIoTimes& times) {
  const OpenRequest request = open_request();
  const std::int64_t begun = now_ns();
  auto file = context_.backend->open_viewed(request, parameters_.hints_of("on_open"));
  times.open = now_ns() - begun;
  if (!file) return fail(file.error());
  file_ = std::move(*file);
  stands_at_.reset();
  return {};
}

Status BEffIoRun::set_out(const BEffIoTask& task, BEffIoTimes& times) {
  const BEffIoPlace place = place_of(task);
  const Map hints = parameters_.hints_of(task.pattern.hint_chunk());
  Status status;
  const std::int64_t begun = now_ns();
  if (shape_.has_strided_view() || stands_at_ != place.displacement_bytes)
    status = file_->set_view(place.view(), hints);
  else if (!hints.empty())
    status = file_->set_hints(hints);
  times.view = now_ns() - begun;
  return status;
}

Status BEffIoRun::close(BEffIoTimes& times) {
  if (!file_) return {};
  const std::int64_t begun = now_ns();
  const Status status = file_->close();
  times.close = now_ns() - begun;
  file_.reset();
  return status;
}

void BEffIoRun::finished(const BEffIoTask& task, const BEffIoDone& done) {
  const BEffIoPlace place = place_of(task);
  const std::uint64_t end = place.displacement_bytes + place.extent_bytes(done.least);
  stands_at_ = done.least == done.most ? std::optional(end) : std::nullopt;
  ends_at_ = end;
  took_s_ += done.took_s;
  BEffIoMade& made = dataset_.patterns[task.pattern.number];
  if (parameters_.access == BEffIoAccess::write) {
    made = {done.least, place.displacement_bytes, 0, 0};
  } else if (parameters_.access == BEffIoAccess::rewrite) {
    made.rewritten = done.least;
    made.rewritten_by_some = done.most;
  }
}

Status BEffIoRun::control_cache() const {
  Status status;
  const bool drops = parameters_.cache == BEffIoCache::advise && holds_data();
  if (drops && (entry_.per_process || context_.world->topology().leader()))
    status = context_.backend->drop_cached(file_name());
  everyone().barrier();
  return status;
}

Status BEffIoRun::enter() const {
  return context_.datasets->enter(context_.dataset,
                                  dataset_.facts(b_eff_io_layout(parameters_, context_.world->size())));
}

LocalSteps BEffIoRun::end(bool whole) {
  // Where a pattern failed the file is still open, on all ranks.
  LocalSteps steps{{"close file", [this] {
                      BEffIoTimes of_nothing;
                      return close(of_nothing);
                    }}};
  if (!context_.dataset.empty() && parameters_.writes()) {
    steps.push_back(whole ? LocalStep{"enter facts", [this] { return enter(); }} : step_to_remove_facts(context_));
    if (whole) return steps;
  }
  if (!context_.keep && makes_files()) append(steps, steps_to_remove_tree(context_, entry_));
  return steps;
}

}  // namespace ullage
