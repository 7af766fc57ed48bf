// SPDX-License-Identifier: Apache-2.0
// The contract between what is to be moved and the API that moves it.
#pragma once

#include <functional>

#include "base/meter.hpp"
#include "base/parameters.hpp"
#include "base/pinned.hpp"
#include "base/registry.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "storage/array_file.hpp"
#include "storage/metadata.hpp"
#include "storage/run_folder.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

/// One operation: `length_bytes` at `offset_bytes` of the file, from or to `data`, which the caller owns and keeps.
struct Extent {
  std::uint64_t offset_bytes = 0;
  std::size_t length_bytes = 0;
  std::byte* data = nullptr;
};

/// Facet of a file: transfers that are begun, and go on while the rank does something else.
class NonblockingTransfers : public Interface {
 public:
  /// Begins a batch of transfers, none of which is under way: at most Capabilities::nonblocking, and as deep as
  /// make_ready() was told. The extents and their memory are the file's until wait() has returned. What goes wrong is
  /// said by wait().
  virtual void start(Direction direction, std::span<const Extent> extents) = 0;
  /// Lets a library go on with the batch that does so only when it is called.
  virtual void test() = 0;
  /// Waits until the batch has ended, each extent whole or not at all; its first error.
  [[nodiscard]] virtual Status wait() = 0;
};

using mpi::ScatteredMemory;

/// One operation whose memory lies in pieces: its bytes are one behind the other in the file.
struct ScatteredExtent {
  std::uint64_t offset_bytes = 0;
  ScatteredMemory memory;
};

/// An open file of one rank. Used by one thread. Not closed by the destructor's good grace: call close(), which
/// reports; the destructor only releases what is left after an error.
class File : public Interface {
 public:
  /// Moves the extents, begun in order, calls meter.completed() after each (completed_since() where several are under
  /// way at once), and begins none after it said false; all that were begun have ended when it returns. A short count
  /// is continued until the extent is whole or an error or end of file comes; end of file inside an extent is an error.
  /// The first error ends the call (a collective file goes on taking part with empty operations, so no other rank
  /// hangs).
  [[nodiscard]] virtual Status transfer(Direction direction, std::span<const Extent> extents, Meter& meter) = 0;
  /// Does the same for extents whose memory the library puts together, within the time; an error where it does not.
  [[nodiscard]] virtual Status transfer_scattered(Direction direction, std::span<const ScatteredExtent> extents,
                                                  Meter& meter);
  /// Exactly one request to make the file's data durable.
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual Status close() = 0;
  /// Hints as the library says it uses them, while it is open or once it is closed; empty where there are none.
  [[nodiscard]] virtual Map hints_granted() const { return {}; }
  /// Null where its calls only return when the data is moved. No transfer() while a batch is under way.
  [[nodiscard]] virtual NonblockingTransfers* nonblocking() { return nullptr; }
};

enum class OpenMode {
  create,     // must not exist (shared files: made by the first rank, opened by the others after it)
  overwrite,  // must exist; kept as long as it is
  read,
};

struct OpenRequest {
  std::string name;  // relative to the run folder
  OpenMode mode = OpenMode::create;
  bool shared = false;               // every rank of `everyone`, or of `among`, opens it in the same phase
  std::uint64_t expected_bytes = 0;  // size of the whole file once written, for preallocation
  bool unique = false;               // nobody else has it open, as far as the library can make use of that
  const mpi::Comm* among = nullptr;  // who opens a shared file together, the first ranks of `everyone`; null: all
};

struct Capabilities {
  bool path = true;              // needs a target path
  bool data = true;              // holds data: can be verified, has holes and a size
  bool collective = false;       // operations are collective over all ranks of a shared file
  bool collective_sync = false;  // sync and close of a shared file wait for all ranks
  bool metadata = false;         // works on names
  bool views = false;            // open_viewed()
  bool arrays = false;           // open_arrays()
  bool scattered = false;        // transfer_scattered() of its files
  bool direct = false;           // bypasses the page cache as configured
  bool memory = false;           // what it holds is memory, and lasts until the backend's end
  bool dax = false;              // with memory: persistent memory without files
  int queue_depth = 1;           // deepest that is served
  int threads = 1;
  int file_threads = 0;  // how many threads besides the rank's own may open and use files, each file by one at a time
  bool thread_files = false;  // each file by the thread alone that opened it
  int nonblocking = 0;  // most transfers of a file that are begun together, see NonblockingTransfers; 0: it has none
  std::size_t alignment_bytes = 1;  // of offsets, lengths and buffers, known once the target is (else 1)
};

/// Says how a phase moves its data: each of `threads` has up to `queue_depth` operations under way at once.
struct Concurrency {
  int queue_depth = 1;
  int threads = 1;
  /// Extents of a transfer() that are so many apart share their memory: of one thread, the later one is begun when the
  /// earlier one has ended; several, as many as this at most, may exchange the memory of such a transfer()'s extents,
  /// so that each has its own. 0: none share any.
  std::size_t window = 0;
};

/// Size and whether every byte is allocated (no hole, no unwritten extent).
struct FileExtents {
  std::uint64_t size_bytes = 0;
  bool fully_written = true;
};

/// Talks to one target through one API for all phases of a case. One per rank, used by one thread.
class Backend : public Interface {
 public:
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  /// Before a phase's timer: does of the opening of this request what is not the API's own work, such as to look for
  /// links in its way. `arrays` are those of open_arrays(). Local; every rank that will open the file calls it, or
  /// none, and none opens it unless all succeeded. What was not readied the opening does itself.
  [[nodiscard]] virtual Status ready_open(const OpenRequest& request, std::span<const ArraySpec> arrays = {});
  /// Collective over `everyone` when request.shared: all ranks succeed or all fail.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const OpenRequest& request) = 0;
  [[nodiscard]] virtual Map hints_given() const { return {}; }
  /// Returns what is known of its files after a phase, besides what each says; finding out may take time.
  [[nodiscard]] virtual Map hints_granted() const { return {}; }

  // What a backend can do besides, as its capabilities say; the rest is an error of kind `unsupported`. Names are
  // relative to the run folder.

  /// Before a phase's timer: its transfers will be from or to `memory`. May come again while no file is open. Success
  /// where a file has one operation under way.
  [[nodiscard]] virtual Status make_ready(std::span<std::byte> memory, const Concurrency& wanted);
  // Files that have names and stay: where there is data.
  [[nodiscard]] virtual Status make_directory(const std::string& name);
  [[nodiscard]] virtual Status remove_file(const std::string& name);
  [[nodiscard]] virtual Status remove_directory(const std::string& name);
  [[nodiscard]] virtual Result<FileExtents> inspect(const std::string& name);
  /// Does as open(), for reading and writing unless the request's mode is `read`; `hints` besides the backend's own,
  /// before which they go. `unique` counts here.
  [[nodiscard]] virtual Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest& request, const Map& hints);
  /// Does as open(). The arrays are made in a new file, and must be in one that is there with as many rows; an array of
  /// 0 rows then has those of the file.
  [[nodiscard]] virtual Result<std::unique_ptr<ArrayFile>> open_arrays(const OpenRequest& request,
                                                                       std::span<const ArraySpec> arrays);
  /// Work on names. Made anew for every phase; the backend outlives it.
  [[nodiscard]] virtual Result<std::unique_ptr<MetadataApi>> make_metadata();
  /// Writes back and drops the named file from this node's page cache.
  [[nodiscard]] virtual Status drop_cached(const std::string& name);
};

/// Holds what a backend is made from; outlives it. `folder` is null for backends without a path.
struct BackendContext {
  const mpi::World* world = nullptr;
  const RunFolder* folder = nullptr;
  std::uint64_t run_key = 0;  // differs for every repetition: what is drawn at random is drawn anew
};

struct BackendEntry {
  Description description;
  Capabilities capabilities;  // before a target is known
  /// Collective: every rank makes its own at the same time.
  std::function<Result<std::unique_ptr<Backend>>(const Values&, const BackendContext&)> make;
  /// Checks what the table of parameters cannot say, before anything is touched; null: nothing. `pointer` is that of
  /// the parameters object.
  std::function<Status(const Values&, const std::string& pointer)> check = nullptr;
  bool wraps = false;  // its parameter `inner` is a choice of all the others
};

/// Also writes the capabilities as words into the description, and keeps the choices of `inner` complete, in whatever
/// order backends register.
template <>
void Registry<BackendEntry>::add(BackendEntry entry);

// Compiled in backend.cpp.
extern template class Registry<BackendEntry>;
extern template struct Registered<BackendEntry>;

/// description.capabilities as words: path, data, collective, metadata, views, arrays, scattered, direct, memory, and
/// queue_depth=N and threads=N when above 1, file_threads=N and nonblocking=N when above 0.
[[nodiscard]] std::vector<std::string> capability_words(const Capabilities& capabilities);

/// Closes a file and keeps what it says of its hints. Some files know that only while they are open. HDF5 has to be
/// asked by all ranks together, which they do when they close.
template <class FileT>
[[nodiscard]] Status close_and_keep_hints(FileT& file, Map& hints) {
  hints = file.hints_granted();
  Status status = file.close();
  if (hints.empty()) hints = file.hints_granted();
  return status;
}

}  // namespace ullage
