// SPDX-License-Identifier: Apache-2.0
// Backend `hdf5`: parallel HDF5 of the MPI in use. A transfer goes to a dataset of bytes; files of several arrays have
// a dataset for each.

#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "mpi/info.hpp"
#include "storage/backend.hpp"
#include "storage/backends/hdf5_arrays.hpp"
#include "storage/backends/hdf5_room.hpp"
#include "storage/backends/mpi_path.hpp"
#include "storage/file_facts.hpp"

namespace ullage {
namespace {

constexpr const char* bytes_dataset = "data";
constexpr int close_everything = 3;
constexpr int pages_strategy = 1;
constexpr int format_1_10 = 2;

Table<Hdf5Parameters> hdf5_table() {
  using P = Hdf5Parameters;
  return {
      flag("collective", &P::collective, "Move data by collective transfers (H5FD_MPIO_COLLECTIVE) in a shared file."),
      flag("collective_metadata", &P::collective_metadata,
           "Read and write metadata collectively (H5Pset_all_coll_metadata_ops, H5Pset_coll_metadata_write)."),
      bytes("chunk_bytes", &P::chunk_bytes, {0}, "Store datasets in chunks of about this size; 0: contiguously."),
      bytes("alignment_bytes", &P::alignment_bytes, {1, 1 << 30},
            "Begin large objects at multiples of this offset (H5Pset_alignment)."),
      bytes("alignment_from_bytes", &P::alignment_from_bytes, {1}, "Align objects from this size on."),
      bytes("page_buffer_bytes", &P::page_buffer_bytes, {0},
            "Let the library keep pages of the file in a buffer of this size; 0: none. Most parallel HDF5 refuse it."),
      bytes("page_bytes", &P::page_bytes, {512, 1 << 30}, "Size of a page of the file with a page buffer."),
      flag("evict_on_close", &P::evict_on_close,
           "Drop what the library keeps of a dataset when it is closed. Most parallel HDF5 refuse it."),
      flag("fill", &P::fill, "Write fill values when space is allocated; otherwise never."),
      flag("new_format", &P::new_format,
           "Use the file format of HDF5 1.10 (H5F_LIBVER_V110), which older versions cannot read."),
      map("hints", &P::hints, "Pass these MPI_Info hints when a file is opened, such as cb_nodes or striping_factor."),
  };
}

Status check_hdf5(const Values& values, const std::string& pointer) {
  const auto parameters = bind_parameters(hdf5_table(), values);
  if (parameters.page_buffer_bytes > 0 && parameters.page_buffer_bytes < parameters.page_bytes)
    return fail(bad_plan(pointer + "/page_buffer_bytes", "must hold a page of page_bytes at least"));
  return {};
}

/// A dataset of bytes as a File.
class Hdf5File final : public File {
 public:
  explicit Hdf5File(std::unique_ptr<ArrayFile> arrays) : arrays_(std::move(arrays)) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) override {
    operations_.clear();
    for (const Extent& extent : extents)
      operations_.push_back({0, extent.offset_bytes, extent.length_bytes, extent.data});
    return arrays_->transfer(direction, operations_, meter);
  }
  [[nodiscard]] Status sync() override { return arrays_->sync(); }
  [[nodiscard]] Status close() override { return arrays_->close(); }
  [[nodiscard]] Map hints_granted() const override { return arrays_->hints_granted(); }

 private:
  std::unique_ptr<ArrayFile> arrays_;
  std::vector<ArrayRows> operations_;
};

constexpr Capabilities hdf5_capabilities{.collective_sync = true, .arrays = true};

class Hdf5Backend final : public Backend {
 public:
  /// Collective.
  Hdf5Backend(Hdf5Parameters parameters, const BackendContext& context, const Hdf5Calls& calls, mpi::Info hints)
      : parameters_(std::move(parameters)),
        calls_(calls),
        hints_(std::move(hints)),
        world_(*context.world),
        folder_(*context.folder),
        everyone_(context.world->all().duplicate()),
        prefix_(romio_prefix(folder_)),
        checks_(world_, folder_) {}

  /// The property lists of all files; an error where the library refuses what was asked for.
  [[nodiscard]] Status prepare() {
    creation_ = {calls_.create_list(*calls_.file_creation), calls_.close_list};
    if (!creation_) return refused("H5Pcreate");
    if (parameters_.page_buffer_bytes > 0 &&
        (calls_.set_space_strategy(creation_.get(), pages_strategy, false, 1) < 0 ||
         calls_.set_space_page(creation_.get(), parameters_.page_bytes) < 0))
      return refused("file_space_strategy");
    if (auto status = prepare_access(access_of_own_, world_.self()); !status) return status;
    return prepare_access(access_of_shared_, world_.all());
  }

  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities capabilities = hdf5_capabilities;
    capabilities.collective = parameters_.collective;
    return capabilities;
  }

  [[nodiscard]] Status ready_open(const OpenRequest& request, std::span<const ArraySpec> arrays) override {
    const ArraySpec bytes = bytes_of(request);
    const Status right = check_room(request, arrays.empty() ? std::span(&bytes, 1) : arrays);
    return right ? checks_.look_ahead(request) : right;
  }

  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    const ArraySpec bytes = bytes_of(request);
    auto arrays = open_arrays(request, {&bytes, 1});
    if (!arrays) return fail(arrays.error());
    return std::make_unique<Hdf5File>(std::move(*arrays));
  }

  [[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_arrays(const OpenRequest& request,
                                                               std::span<const ArraySpec> arrays) override {
    const bool some = request.shared && request.among != nullptr;
    const mpi::Comm& sharers = sharers_of(request);
    Hdf5Handle access_of_some;  // the library keeps a copy with the file
    const bool is_ready = checks_.was_looked_at(request);
    Status right = is_ready ? Status{} : checks_.look(request);
    if (right && !is_ready) right = check_room(request, arrays);
    if (right && some) right = prepare_access(access_of_some, sharers);
    if (request.shared && (some || !is_ready)) right = mpi::share_status(sharers, right);
    if (!right) return fail(right.error());
    const Hdf5Handle& access = some ? access_of_some : request.shared ? access_of_shared_ : access_of_own_;
    return open_hdf5_arrays({.calls = &calls_,
                             .parameters = &parameters_,
                             .creation = creation_.get(),
                             .access = access.get(),
                             .mode = request.mode,
                             .library_path = prefix_ + path_of(request),
                             .path = path_of(request),
                             .everyone = request.shared ? &sharers : nullptr,
                             .arrays = arrays});
  }

  [[nodiscard]] Status make_directory(const std::string& name) override { return folder_.make_directory(name); }
  [[nodiscard]] Status remove_file(const std::string& name) override { return folder_.remove_file(name); }
  [[nodiscard]] Status remove_directory(const std::string& name) override { return folder_.remove_directory(name); }
  [[nodiscard]] Status drop_cached(const std::string& name) override { return drop_cached_file(folder_, name); }
  [[nodiscard]] Map hints_given() const override { return parameters_.hints; }

  /// Size and holes of the dataset of bytes alone: between objects the library leaves what alignment asks for.
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override {
    const auto path = folder_.checked_path(name);
    if (!path) return fail(path.error());
    const auto ranges = find_hdf5_data(calls_, *path, bytes_dataset);
    if (!ranges) return fail(ranges.error());
    FileExtents extents;
    for (const DataRange& range : *ranges) {
      const auto part = inspect_part(folder_, name, range.offset_bytes, range.length_bytes);
      if (!part) return fail(part.error());
      extents.size_bytes += part->size_bytes;
      extents.fully_written = extents.fully_written && part->fully_written;
    }
    return extents;
  }

 private:
  [[nodiscard]] static ArraySpec bytes_of(const OpenRequest& request) {
    return {bytes_dataset, ElementType::byte, {request.mode == OpenMode::create ? request.expected_bytes : 0}};
  }

  [[nodiscard]] const mpi::Comm& sharers_of(const OpenRequest& request) const {
    return request.shared && request.among != nullptr ? *request.among : everyone_;
  }

  [[nodiscard]] Status check_room(const OpenRequest& request, std::span<const ArraySpec> arrays) const {
    if (request.mode != OpenMode::create || (request.shared && sharers_of(request).rank() != 0)) return {};
    return check_hdf5_room("open", path_of(request), hdf5_metadata_bytes(arrays, parameters_.chunk_bytes));
  }

  [[nodiscard]] std::unexpected<Error> refused(const std::string& what) const {
    const Error error = hdf5_error(calls_, what, "");
    return fail(environment_error(what, "is refused by HDF5 " + hdf5_version(calls_) + " (" + error.text + ")"));
  }

  [[nodiscard]] Status prepare_access(Hdf5Handle& list, const mpi::Comm& comm) const {
    list = {calls_.create_list(*calls_.file_access), calls_.close_list};
    if (!list || calls_.set_close_degree(list.get(), close_everything) < 0) return refused("H5Pcreate");
    if (mpi::call_foreign(calls_.set_mpi_driver, list.get(), comm, hints_) < 0) return refused("H5Pset_fapl_mpio");
    if (parameters_.alignment_bytes > 1 &&
        calls_.set_alignment(list.get(), parameters_.alignment_from_bytes, parameters_.alignment_bytes) < 0)
      return refused("alignment_bytes");
    if (parameters_.collective_metadata && (calls_.set_collective_metadata_reads(list.get(), true) < 0 ||
                                            calls_.set_collective_metadata_writes(list.get(), true) < 0))
      return refused("collective_metadata");
    if (parameters_.page_buffer_bytes > 0 &&
        calls_.set_page_buffer(list.get(), static_cast<std::size_t>(parameters_.page_buffer_bytes), 0, 0) < 0)
      return refused("page_buffer_bytes");
    if (parameters_.evict_on_close && calls_.set_evict_on_close(list.get(), true) < 0) return refused("evict_on_close");
    if (parameters_.new_format && calls_.set_version_bounds(list.get(), format_1_10, format_1_10) < 0)
      return refused("new_format");
    return {};
  }

  [[nodiscard]] std::string path_of(const OpenRequest& request) const { return folder_.path() + "/" + request.name; }

  Hdf5Parameters parameters_;
  const Hdf5Calls& calls_;
  mpi::Info hints_;
  const mpi::World& world_;
  const RunFolder& folder_;
  mpi::Comm everyone_;  // for agreements that must not meet anybody else's
  std::string prefix_;
  PathChecks checks_;
  Hdf5Handle creation_;
  Hdf5Handle access_of_own_;
  Hdf5Handle access_of_shared_;
};

Result<std::unique_ptr<Backend>> make_hdf5(const Values& values, const BackendContext& context) {
  auto parameters = bind_parameters(hdf5_table(), values);
  if (context.folder == nullptr) return fail(environment_error("", "backend 'hdf5' needs a target with a path"));
  auto hints = mpi::Info::from(parameters.hints);
  if (!hints) return fail(hints.error());
  const auto calls = open_hdf5();
  // A node without the library must not leave the ranks of the others waiting.
  Status ready = calls ? load_mpi_io(*context.world, *context.folder) : fail(calls.error());
  if (auto status = mpi::share_status(context.world->all(), std::move(ready)); !status) return fail(status.error());
  auto backend = std::make_unique<Hdf5Backend>(std::move(parameters), context, **calls, std::move(*hints));
  if (auto status = backend->prepare(); !status) return fail(status.error());
  return backend;
}

std::optional<std::string> missing_hdf5() {
  const auto& library = hdf5_library();
  if (library) return std::nullopt;
  return library.error().where == "HDF5" ? library.error().text : library.error().where + " " + library.error().text;
}

const Registered<BackendEntry> registered_hdf5{{
    .description = {.name = "hdf5",
                    .doc = "Uses parallel HDF5 of the MPI in use: datasets, independent or collective, in files that "
                           "ranks share or own.",
                    .parameters = specs_of(hdf5_table()),
                    .missing = missing_hdf5},
    .capabilities = hdf5_capabilities,
    .make = make_hdf5,
    .check = check_hdf5,
}};

}  // namespace
}  // namespace ullage
