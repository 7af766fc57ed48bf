// SPDX-License-Identifier: Apache-2.0
// Backend `mpiio`: MPI-IO with explicit offsets, independent or collective, and through views.
#include <fcntl.h>

#include <cerrno>

#include "base/std.hpp"
#include "mpi/abi.hpp"
#include "mpi/agreement.hpp"
#include "mpi/file.hpp"
#include "mpi/file_requests.hpp"
#include "storage/backend.hpp"
#include "storage/backends/mpi_path.hpp"
#include "storage/backends/mpiio_viewed_file.hpp"
#include "storage/file_facts.hpp"

namespace ullage {
namespace {

constexpr std::size_t most_bytes_a_call = std::size_t{1} << 30;  // counts are ints

struct MpiioParameters {
  bool collective = false;
  Map hints;
  bool preallocate = false;
};

Table<MpiioParameters> mpiio_table() {
  using P = MpiioParameters;
  return {
      flag("collective", &P::collective, "Use collective operations (MPI_File_write_at_all) on a shared file."),
      map("hints", &P::hints, "Pass these MPI_Info hints when a file is opened, such as cb_nodes or striping_factor."),
      flag("preallocate", &P::preallocate,
           "Allocate the whole size of a new file when it is made (MPI_File_preallocate)."),
  };
}

/// The library said success, and moved less.
Error short_count(Direction direction, const std::string& path, std::uint64_t offset_bytes, std::size_t moved,
                  std::size_t asked) {
  Error error = errno_error(EIO, word_of(direction), path, offset_bytes);
  error.kind = ErrorKind::mpi;
  error.text = direction == Direction::read ? "end of file inside a transfer"
                                            : "the MPI library reported success but wrote less than requested";
  error.text += " (" + std::to_string(moved) + " of " + std::to_string(asked) + " bytes)";
  return error;
}

class MpiioFile final : public File, public NonblockingTransfers {
 public:
  /// `everyone`: the ranks that opened it together, null when it is this rank's own. `end_bytes`: where collective
  /// reads must end.
  MpiioFile(mpi::File file, std::string path, const mpi::Comm* everyone, bool collective, std::uint64_t end_bytes)
      : file_(std::move(file)),
        path_(std::move(path)),
        meeting_(everyone),
        collective_(collective),
        end_bytes_(end_bytes) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    return transfer_each(direction, extents, meter);
  }
  [[nodiscard]] Status transfer_scattered(Direction direction, std::span<const ScatteredExtent> extents,
                                          Meter& meter) override {
    return transfer_each(direction, extents, meter);
  }

  /// What is begun collectively would have to be ended so. Where the file ends is looked up now, since OMPIO waits for
  /// ever for a read past it.
  [[nodiscard]] NonblockingTransfers* nonblocking() override {
    if (collective_) return nullptr;
    end_bytes_ = file_.size_bytes().value_or(0);
    requests_.emplace();
    return this;
  }

  void start(Direction direction, std::span<const Extent> extents) override {
    begun_failure_.reset();
    direction_ = direction;
    extents_ = extents;
    requests_->reserve(extents.size());
    for (const Extent& extent : extents) {
      const Status begun = begin(direction, extent);
      if (begun) continue;
      begun_failure_ = begun.error();
      break;
    }
  }

  void test() override { (void)requests_->test(); }

  /// What was moved in part goes on by blocking calls.
  [[nodiscard]] Status wait() override {
    requests_->wait();
    const auto started = std::exchange(extents_, {});
    Status first;
    for (std::size_t i = 0; i < std::min(started.size(), requests_->size()); ++i) {
      const auto moved = requests_->moved_bytes(i);
      const Status whole =
          moved ? move_alone(direction_, started[i], *moved) : failed(moved.error(), direction_, started[i]);
      if (first && !whole) first = whole;
    }
    return first && begun_failure_ ? fail(*begun_failure_) : first;
  }

  [[nodiscard]] Status sync() override {
    if (meeting_.meet(true, failure_.has_value()).anyone_failed)
      return failure_ ? fail(*failure_) : fail(not_synced(path_));
    note(file_.sync());
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] Status close() override {
    meeting_.wait_for_syncs([this] { return failure_.has_value(); }, [this] { note(file_.sync()); });
    granted_ = file_.hints();
    return file_.close();
  }

  [[nodiscard]] Map hints_granted() const override { return granted_.empty() ? file_.hints() : granted_; }

 private:
  void note(const Status& status) {
    if (!status && !failure_) failure_ = status.error();
  }

  [[nodiscard]] Status begin(Direction direction, const Extent& extent) {
    const std::span<std::byte> data{extent.data, extent.length_bytes};
    if (direction == Direction::write) return requests_->write_at(file_, extent.offset_bytes, data);
    if (extent.offset_bytes + extent.length_bytes <= end_bytes_)
      return requests_->read_at(file_, extent.offset_bytes, data);
    return fail(short_count(direction, path_, std::max(extent.offset_bytes, end_bytes_), 0, extent.length_bytes));
  }

  // Returns what differs between extents of one piece of memory and of many.
  [[nodiscard]] static std::uint64_t length_of(const Extent& extent) { return extent.length_bytes; }
  [[nodiscard]] static std::uint64_t length_of(const ScatteredExtent& extent) { return extent.memory.length_bytes(); }
  [[nodiscard]] static Extent nothing_of(const Extent& extent) { return {extent.offset_bytes, 0, extent.data}; }
  [[nodiscard]] static ScatteredExtent nothing_of(const ScatteredExtent& extent) {
    return {extent.offset_bytes, extent.memory.part(0, 0)};
  }
  [[nodiscard]] static std::span<std::byte> memory_of(const Extent& extent) {
    return {extent.data, extent.length_bytes};
  }
  [[nodiscard]] static const ScatteredMemory& memory_of(const ScatteredExtent& extent) { return extent.memory; }

  template <class ExtentT>
  [[nodiscard]] Status transfer_each(Direction direction, std::span<const ExtentT> extents, Meter& meter) {
    for (const ExtentT& extent : extents) {
      if (!failure_)
        note(collective_ ? move_together(direction, extent) : move_alone(direction, extent));
      else if (collective_)
        (void)together(direction, nothing_of(extent));
      if (failure_ && !collective_) break;
      if (!failure_ && !meter.completed(length_of(extent))) break;
    }
    return failure_ ? fail(*failure_) : Status{};
  }

  template <class ExtentT>
  [[nodiscard]] Result<std::size_t> together(Direction direction, const ExtentT& extent) const {
    return direction == Direction::write ? file_.write_at_all(extent.offset_bytes, memory_of(extent))
                                         : file_.read_at_all(extent.offset_bytes, memory_of(extent));
  }

  /// One collective call an operation, whole or an error: what one rank did again alone would leave the others waiting.
  template <class ExtentT>
  [[nodiscard]] Status move_together(Direction direction, const ExtentT& extent) const {
    const std::uint64_t length = length_of(extent);
    if (length > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      return fail(unsupported(word_of(direction), path_ + ": a collective transfer is at most 2147483647 bytes long"));
    const bool fits = direction == Direction::write || extent.offset_bytes + length <= end_bytes_;
    const auto moved = together(direction, fits ? extent : nothing_of(extent));
    if (!moved) return failed(moved.error(), direction, extent);
    if (!fits) return fail(short_count(direction, path_, std::max(extent.offset_bytes, end_bytes_), 0, length));
    if (*moved == length) return {};
    return failed(short_count(direction, path_, extent.offset_bytes + *moved, *moved, length), direction, extent);
  }

  template <class ExtentT>
  [[nodiscard]] std::unexpected<Error> failed(Error error, Direction direction, const ExtentT& extent) const {
    return fail(with_size_limit(std::move(error), direction, path_, extent.offset_bytes + length_of(extent)));
  }

  /// Moves what is left of it after the first `done` bytes.
  [[nodiscard]] Status move_alone(Direction direction, const Extent& extent, std::size_t done = 0) const {
    while (done < extent.length_bytes) {
      const std::span<std::byte> part{extent.data + done, std::min(extent.length_bytes - done, most_bytes_a_call)};
      const std::uint64_t offset = extent.offset_bytes + done;
      const auto moved = direction == Direction::write ? file_.write_at(offset, part) : file_.read_at(offset, part);
      if (!moved) return failed(moved.error(), direction, extent);
      if (*moved == 0)
        return failed(short_count(direction, path_, offset, done, extent.length_bytes), direction, extent);
      done += *moved;
    }
    return {};
  }

  /// Whole records at a time: what moved a part of one has failed.
  [[nodiscard]] Status move_alone(Direction direction, const ScatteredExtent& extent) const {
    const std::uint64_t record_bytes = extent.memory.record_bytes();
    const std::uint64_t most = std::max<std::uint64_t>(1, most_bytes_a_call / record_bytes);
    for (std::uint64_t done = 0; done < extent.memory.records;) {
      const ScatteredMemory part = extent.memory.part(done, std::min(extent.memory.records - done, most));
      const std::uint64_t offset = extent.offset_bytes + done * record_bytes;
      const auto moved = direction == Direction::write ? file_.write_at(offset, part) : file_.read_at(offset, part);
      if (!moved) return failed(moved.error(), direction, extent);
      if (*moved < record_bytes || *moved % record_bytes != 0)
        return failed(short_count(direction, path_, offset + *moved, *moved, part.length_bytes()), direction, extent);
      done += *moved / record_bytes;
    }
    return {};
  }

  mpi::File file_;
  Map granted_;  // once it is closed
  std::string path_;
  MpiioMeeting meeting_;
  bool collective_;
  std::uint64_t end_bytes_;
  std::optional<Error> failure_;
  // These are of the batch that was started.
  Direction direction_ = Direction::write;
  std::span<const Extent> extents_;
  std::optional<Error> begun_failure_;
  std::optional<mpi::FileRequests> requests_;  // before file_ in destruction: they wait for what is under way
};

constexpr int most_begun = 1024;
constexpr Capabilities mpiio_capabilities{
    .collective_sync = true, .views = true, .scattered = true, .nonblocking = most_begun};

class MpiioBackend final : public Backend {
 public:
  /// Collective.
  MpiioBackend(MpiioParameters parameters, const BackendContext& context, mpi::Info hints)
      : parameters_(std::move(parameters)),
        hints_(std::move(hints)),
        world_(*context.world),
        folder_(*context.folder),
        everyone_(context.world->all().duplicate()),
        prefix_(romio_prefix(folder_)),
        checks_(world_, folder_) {}

  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities capabilities = mpiio_capabilities;
    capabilities.collective = parameters_.collective;
    if (parameters_.collective) capabilities.nonblocking = 0;
    return capabilities;
  }

  [[nodiscard]] Status ready_open(const OpenRequest& request, std::span<const ArraySpec> /*arrays*/) override {
    return checks_.look_ahead(request);
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    auto file = open_file(request, access_of(request.mode), hints_, false);
    if (!file) return fail(file.error());
    Result<std::uint64_t> end = 0;
    if (parameters_.collective && request.mode == OpenMode::read) {
      end = file->size_bytes();
      if (auto status = settled(request, end ? Status{} : fail(end.error())); !status) return fail(status.error());
    }
    return std::make_unique<MpiioFile>(std::move(*file), path_of(request),
                                       request.shared ? &group_of(request) : nullptr, parameters_.collective, *end);
  }

  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest& request, const Map& hints) override {
    Map all = hints;
    all.insert(parameters_.hints.begin(), parameters_.hints.end());  // those given for the file go before
    const auto info = mpi::Info::from(all);
    if (!info) return fail(info.error());
    auto file = open_file(request, viewed_access_of(request.mode), *info, request.unique);
    if (!file) return fail(file.error());
    return std::make_unique<MpiioViewedFile>(std::move(*file), path_of(request),
                                             request.shared ? &group_of(request) : nullptr);
  }

  [[nodiscard]] Status make_directory(const std::string& name) override { return folder_.make_directory(name); }
  [[nodiscard]] Status remove_file(const std::string& name) override { return folder_.remove_file(name); }
  [[nodiscard]] Status remove_directory(const std::string& name) override { return folder_.remove_directory(name); }
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override { return inspect_file(folder_, name); }
  [[nodiscard]] Status drop_cached(const std::string& name) override { return drop_cached_file(folder_, name); }
  [[nodiscard]] Map hints_given() const override { return parameters_.hints; }

 private:
  [[nodiscard]] static mpi::FileAccess access_of(OpenMode mode) {
    switch (mode) {
      case OpenMode::create:
        return mpi::FileAccess::create;
      case OpenMode::overwrite:
        return mpi::FileAccess::write;
      case OpenMode::read:
        break;
    }
    return mpi::FileAccess::read;
  }

  [[nodiscard]] static mpi::FileAccess viewed_access_of(OpenMode mode) {
    switch (mode) {
      case OpenMode::create:
        return mpi::FileAccess::create_update;
      case OpenMode::overwrite:
        return mpi::FileAccess::update;
      case OpenMode::read:
        break;
    }
    return mpi::FileAccess::read;
  }

  [[nodiscard]] const mpi::Comm& group_of(const OpenRequest& request) const {
    return request.among != nullptr ? *request.among : everyone_;
  }

  [[nodiscard]] std::string path_of(const OpenRequest& request) const { return folder_.path() + "/" + request.name; }

  /// Whole, allocated where that is asked for, on all ranks of a shared file or on none.
  [[nodiscard]] Result<mpi::File> open_file(const OpenRequest& request, mpi::FileAccess access, const mpi::Info& hints,
                                            bool unique) {
    if (!checks_.was_looked_at(request))
      if (auto status = settled(request, checks_.look(request)); !status) return fail(status.error());
    const mpi::Comm& together = request.among != nullptr ? *request.among : world_.all();
    auto file =
        mpi::File::open(request.shared ? together : world_.self(), prefix_ + path_of(request), access, hints, unique);
    if (auto status = settled(request, file ? Status{} : fail(file.error())); !status) return fail(status.error());
    if (request.mode == OpenMode::create && parameters_.preallocate)
      if (auto status = settled(request, file->preallocate(request.expected_bytes)); !status) {
        (void)file->close();
        return fail(status.error());
      }
    return file;
  }

  /// The status of all ranks of a shared file, of this one for its own.
  [[nodiscard]] Status settled(const OpenRequest& request, const Status& own) const {
    return request.shared ? mpi::share_status(group_of(request), own) : own;
  }

  MpiioParameters parameters_;
  mpi::Info hints_;
  const mpi::World& world_;
  const RunFolder& folder_;
  mpi::Comm everyone_;  // for agreements that must not meet anybody else's
  std::string prefix_;
  PathChecks checks_;
};

Result<std::unique_ptr<Backend>> make_mpiio(const Values& values, const BackendContext& context) {
  auto parameters = bind_parameters(mpiio_table(), values);
  if (context.folder == nullptr) return fail(environment_error("", "backend 'mpiio' needs a target with a path"));
  auto hints = mpi::Info::from(parameters.hints);
  if (!hints) return fail(hints.error());
  if (auto status = mpi::share_status(context.world->all(), load_mpi_io(*context.world, *context.folder)); !status)
    return fail(status.error());
  return std::make_unique<MpiioBackend>(std::move(parameters), context, std::move(*hints));
}

std::optional<std::string> why_without_mpi() {
  if (mpi::abi() != "single") return std::nullopt;
  return "this engine runs without MPI; load the module of an MPI, whose mpiexec is then on PATH";
}

const Registered<BackendEntry> registered_mpiio{{
    .description = {.name = "mpiio",
                    .doc = "Uses MPI-IO: with explicit offsets, independent or collective, or through views, with "
                           "individual and shared pointers.",
                    .parameters = specs_of(mpiio_table()),
                    .missing = [] { return why_without_mpi(); }},
    .capabilities = mpiio_capabilities,
    .make = make_mpiio,
}};

}  // namespace
}  // namespace ullage
