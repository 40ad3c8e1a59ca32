// Records every operator of this process as rows of numbers, without the profiler.
//
// A RecordFunction callback sees what the profiler sees: composite operators, those inside
// of kernels, overloads, inputs. What repeats (an operator with inputs of these shapes, its
// results, the place in the program) is text once and a number from then on, so that a row is
// a few integers. The rows wait in memory until Python takes them as lines of a Chrome trace;
// the last ones, and the operators that are running, also stand in a file that is mapped into
// memory, the tail, so that they outlive a crash.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

constexpr size_t kFrameLimit = 40;
constexpr int kUserFrames = 3;
constexpr int kUser = 3;
constexpr size_t kListLimit = 64;
constexpr size_t kKnownLimit = 1 << 18;
constexpr size_t kRowsInLine = 512;
constexpr size_t kPlaces = 65535;  // tensors of one operator; of one with more none are told

// ------------------------------------------------------------------------ shared state

struct Key {
  std::vector<std::pair<const void*, int>> frames;
  bool operator==(const Key& other) const { return frames == other.frames; }
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t hash = 1469598103934665603ull;
    for (const auto& [code, at] : key.frames) {
      hash = (hash ^ reinterpret_cast<size_t>(code)) * 1099511628211ull;
      hash = (hash ^ static_cast<size_t>(at)) * 1099511628211ull;
    }
    return hash;
  }
};

// One operator that has ended. Of kind 0, memory that was taken or given back; then `duration` is
// bytes, `sequence` the address, `forward` what the allocator holds, `output` the device. Of kind
// -1, a storage whose version is another than it was: `duration` says which, `sequence` the version.
struct Row {
  int64_t start;
  int64_t duration;
  int64_t sequence;
  int64_t forward;
  int32_t kind;
  int32_t output;
  int32_t at;
  uint16_t given = 0;  // tensors that it took, and that it made
  uint16_t made = 0;
};

constexpr int kMemory = 0;
constexpr int kVersion = -1;

// ------------------------------------------------------------------------------- tail

constexpr int64_t kSlots = 32;
constexpr int64_t kDepth = 64;
constexpr int64_t kMainRows = 1 << 16;
constexpr int64_t kRows = 1 << 12;
constexpr int64_t kText = 1 << 19;
constexpr int64_t kHeaderSize = 4096;

// An operator that is running, in the tail.
struct TailOpen {
  int64_t start;
  int32_t kind;
  int32_t at;
};

// A thread in the tail: what is running there, and a ring of the last rows.
struct Slot {
  int64_t tid;
  int64_t depth;
  int64_t written;  // rows since the recording began
  int64_t rows_at;  // where the ring is, in bytes
  int64_t capacity;
  TailOpen open[kDepth];
};

// Text is added to one of two parts; the other one has reached the recording when it is emptied.
struct TailHeader {
  char magic[8];
  int64_t slots, slots_at, slot_size, depth, row_size;
  int64_t text_at, text_capacity, text_size[2], text_current, text_lost;
  int64_t stopped;  // the recording has ended before the program
};

constexpr int64_t kRowsAt = kHeaderSize + kSlots * static_cast<int64_t>(sizeof(Slot));
constexpr int64_t kRowsOfAll = kMainRows + (kSlots - 1) * kRows;
constexpr int64_t kTextAt = kRowsAt + kRowsOfAll * static_cast<int64_t>(sizeof(Row));
constexpr int64_t kTailSize = (kTextAt + 2 * kText + 4095) / 4096 * 4096;

// The memory stays where it is for as long as the process lives, so that a thread that comes late
// never writes to nowhere: what is mapped there changes.
void hold_locks();
void release_locks();

class Tail {
 public:
  // Map a file of `kTailSize` bytes, or nothing for -1. False where that can't be done.
  bool map(int descriptor) {
    std::lock_guard<std::mutex> guard(lock_);
    const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    const int fixed = base_ == nullptr ? 0 : MAP_FIXED;
    void* got = mmap(base_, kTailSize, PROT_READ | PROT_WRITE, flags | fixed, descriptor, 0);
    if (got == MAP_FAILED) return false;
    base_ = static_cast<char*>(got);
    prepare();
    return true;
  }
  void stop() {
    std::lock_guard<std::mutex> guard(lock_);
    if (base_ != nullptr) header()->stopped = 1;
  }
  Slot* slot(int64_t index) {
    return reinterpret_cast<Slot*>(base_ + kHeaderSize) + index;
  }
  Row* rows(int64_t index) { return reinterpret_cast<Row*>(base_ + rows_at(index)); }
  static int64_t capacity(int64_t index) { return index == 0 ? kMainRows : kRows; }
  void add_text(const char* data, size_t size) {
    std::lock_guard<std::mutex> guard(lock_);
    if (base_ == nullptr) return;
    int64_t& used = header()->text_size[header()->text_current];
    if (used + static_cast<int64_t>(size) > kText) {
      header()->text_lost = 1;
      return;
    }
    memcpy(base_ + kTextAt + header()->text_current * kText + used, data, size);
    __atomic_store_n(&used, used + static_cast<int64_t>(size), __ATOMIC_RELEASE);
  }
  // What was added before the last time is in the recording now.
  void next_text() {
    std::lock_guard<std::mutex> guard(lock_);
    if (base_ == nullptr) return;
    header()->text_size[1 - header()->text_current] = 0;
    header()->text_current = 1 - header()->text_current;
  }

 private:
  friend void hold_locks();
  friend void release_locks();
  TailHeader* header() { return reinterpret_cast<TailHeader*>(base_); }
  static int64_t rows_at(int64_t index) {
    const int64_t before = index == 0 ? 0 : kMainRows + (index - 1) * kRows;
    return kRowsAt + before * static_cast<int64_t>(sizeof(Row));
  }
  void prepare() {
    *header() = {{}, kSlots, kHeaderSize, sizeof(Slot), kDepth, sizeof(Row), kTextAt, kText, {}, 0, 0, 0};
    for (int64_t index = 0; index < kSlots; ++index) {
      slot(index)->rows_at = rows_at(index);
      slot(index)->capacity = capacity(index);
    }
    memcpy(header()->magic, "navtail1", 8);
  }
  std::mutex lock_;
  char* base_ = nullptr;
};

Tail g_tail;
std::mutex g_slots_lock;
std::vector<int64_t> g_free_slots;

// Rows of one thread that Python has not taken yet.
struct Buffer {
  std::mutex lock;
  std::string tid;
  int64_t number = 0;  // the operating system's
  uint64_t forward = 0;  // the profiler's, by which a Node names the thread that made it
  bool told = false;     // whether that one was
  int64_t slot = -1;
  int64_t written = 0;
  std::vector<Row> rows;
  std::vector<int32_t> places;  // of the tensors of the rows, one after the other

  void add(const Row& row, const std::vector<int32_t>& tensors) {
    std::lock_guard<std::mutex> guard(lock);
    rows.push_back(row);
    places.insert(places.end(), tensors.begin(), tensors.end());
    if (slot < 0) return;
    g_tail.rows(slot)[written % Tail::capacity(slot)] = row;
    __atomic_store_n(&own_slot()->written, ++written, __ATOMIC_RELEASE);
  }
  // The slot, with what a thread before this one has left there forgotten.
  Slot* own_slot() {
    Slot* own = g_tail.slot(slot);
    if (own->tid != number) {
      own->depth = own->written = 0;
      own->tid = number;
    }
    return own;
  }
  void know_thread() {
    number = static_cast<int64_t>(syscall(SYS_gettid));
    tid = std::to_string(number);
    forward = at::RecordFunction::currentThreadId();
  }
  void restart() {
    std::lock_guard<std::mutex> guard(lock);
    rows.clear();
    places.clear();
    written = 0;
    told = false;
  }
};

// Numbers for what repeats, by its bytes; each new one is told once, as JSON. What differs from
// step to step would fill the tail, and is left out of it.
class Interner {
 public:
  explicit Interner(bool in_tail = true) : in_tail_(in_tail) {}
  template <typename Tell>
  int number(const std::string& key, Tell tell) {
    std::lock_guard<std::mutex> guard(lock_);
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() >= kKnownLimit) numbers_.clear();  // then some are told again
    numbers_.emplace(key, ++last_);
    const size_t before = fresh_.size();
    tell(fresh_, last_);
    if (in_tail_) g_tail.add_text(fresh_.data() + before, fresh_.size() - before);
    return last_;
  }
  void clear() {
    std::lock_guard<std::mutex> guard(lock_);
    numbers_.clear();
    fresh_.clear();
  }
  std::mutex& lock() { return lock_; }
  void take(std::string& out) {
    std::lock_guard<std::mutex> guard(lock_);
    out += fresh_;
    fresh_.clear();
  }

 private:
  std::mutex lock_;
  const bool in_tail_;
  std::unordered_map<std::string, int> numbers_;
  int last_ = 0;
  std::string fresh_;
};

std::atomic<bool> g_on{false};
std::atomic<int> g_recording{0};    // its number: one that began in another is not told
std::atomic<int64_t> g_open{0};     // operators that are running
std::atomic<int64_t> g_started{0};  // operators that ever began
int64_t g_limit = 0;  // operators that are recorded at most; 0 for all
bool g_only = false;  // only in modules that are wanted
int64_t g_base_ns = 0;
std::string g_pid;
at::CallbackHandle g_handle = at::INVALID_CALLBACK_HANDLE;
bool g_memory = false;
std::atomic<int> g_threads{0};  // that have run an operator and have not ended
bool g_others_run = false;      // there was another one at the last fork
bool g_forked_beside = false;   // at the fork of this process, or of one that it comes from
PyObject* g_classify = nullptr;  // (path) -> 0 hidden, 1 torch, 2 library, 3 user
PyObject* g_describe = nullptr;  // (number, [(path, line, function)]) -> a line of the recording
std::mutex g_buffers_lock;
std::vector<std::shared_ptr<Buffer>> g_buffers;
std::mutex g_modules_lock;
std::unordered_set<std::string> g_modules;  // never shrinks: threads point into it
Interner g_keys, g_kinds_of_call, g_outputs, g_ats;
Interner g_places(false);
// The three below are guarded by the GIL.
std::unordered_map<const void*, int> g_kinds;
std::unordered_map<Key, int, KeyHash> g_stacks;
PyObject* g_new_stacks = nullptr;  // list of lines
std::unordered_set<std::string> g_script_names;  // never shrinks: keys of stacks point into it

// An operator that is running, for those that it calls.
struct Open {
  bool may_call_python;
  bool script;  // a function of TorchScript
  const void* frame;
};

thread_local bool t_ended = false;  // memory may be given back after the thread's own data

struct Thread {
  std::shared_ptr<Buffer> buffer = std::make_shared<Buffer>();
  const std::string* module = nullptr;
  bool wanted = false;  // what runs in this module, where not all is
  std::vector<Open> open;
  std::string key;  // kept for its memory
  Thread() {
    g_threads++;
    buffer->know_thread();
    take_slot();
    std::lock_guard<std::mutex> guard(g_buffers_lock);
    g_buffers.push_back(buffer);
  }
  ~Thread() {
    t_ended = true;
    g_threads--;
    if (buffer->slot < 0) return;
    g_tail.slot(buffer->slot)->depth = 0;
    std::lock_guard<std::mutex> guard(g_slots_lock);
    g_free_slots.push_back(buffer->slot);
  }
  // Tell the tail that this many operators are open, the innermost of which is given.
  void tell(const TailOpen* inner) {
    if (buffer->slot < 0) return;
    Slot* slot = buffer->own_slot();
    const int64_t depth = static_cast<int64_t>(open.size());
    if (inner != nullptr && depth <= kDepth) slot->open[depth - 1] = *inner;
    __atomic_store_n(&slot->depth, depth, __ATOMIC_RELEASE);
  }

 private:
  void take_slot() {
    std::lock_guard<std::mutex> guard(g_slots_lock);
    if (g_free_slots.empty()) return;
    buffer->slot = g_free_slots.back();
    g_free_slots.pop_back();
  }
};

Thread& here() {
  thread_local Thread thread;
  return thread;
}

int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

// ------------------------------------------------------------------------------- JSON

void text(std::string& out, const char* data, size_t size) {
  static const char* digits = "0123456789abcdef";
  out += '"';
  for (size_t i = 0; i < size; ++i) {
    const unsigned char c = static_cast<unsigned char>(data[i]);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += static_cast<char>(c);
    }
  }
  out += '"';
}

void text(std::string& out, const std::string& value) { text(out, value.data(), value.size()); }

void number(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr - digits);
}

template <typename Numbers>
void numbers(std::string& out, const Numbers& values) {
  out += '[';
  bool first = true;
  for (const int64_t value : values) {
    if (!first) out += ',';
    first = false;
    number(out, value);
  }
  out += ']';
}

// ----------------------------------------------------------------------------- inputs

struct Columns {
  std::string types, dims, strides, values, place;
  void begin() {
    const char* separator = types.empty() ? "[" : ",";
    types += separator, dims += separator, strides += separator, values += separator;
  }
  void end() {
    for (std::string* column : {&types, &dims, &strides, &values}) {
      *column += column->empty() ? "[]" : "]";
    }
  }
};

bool is_plain(const at::Tensor& tensor) {
  return !tensor.is_nested() && !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

// As Python names it: `strided`, `sparse_coo`, `_mkldnn`. In C++ it is `Sparse`, `SparseCsr`.
std::string layout_name(const at::Tensor& tensor) {
  std::ostringstream layout;
  layout << tensor.layout();
  std::string name = layout.str();
  for (char& c : name) c = static_cast<char>(tolower(c));
  if (name == "mkldnn") return "_" + name;
  if (name == "sparse") return "sparse_coo";
  return name.rfind("sparse", 0) == 0 ? "sparse_" + name.substr(6) : name;
}

void note_tensor(Columns& columns, const at::Tensor& tensor) {
  const bool strided = tensor.layout() == at::kStrided;
  if (!columns.place.empty() || (strided && tensor.device().is_cpu())) return;
  columns.place = tensor.device().str();
  if (!strided) columns.place += "/" + layout_name(tensor);
}

void tensor_input(Columns& columns, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    columns.types += "\"\"", columns.dims += "[]", columns.strides += "[]", columns.values += "\"\"";
    return;
  }
  note_tensor(columns, tensor);
  columns.values += "\"\"";
  if (!is_plain(tensor)) {
    columns.types += "\"\"", columns.dims += "[]", columns.strides += "[]";
    return;
  }
  const auto name = tensor.dtype().name();
  text(columns.types, name.data(), name.size());
  numbers(columns.dims, tensor.sizes());
  if (tensor.layout() == at::kStrided) {
    numbers(columns.strides, tensor.strides());
  } else {
    columns.strides += "[]";
  }
}

void tensors_input(Columns& columns, const c10::IValue& value) {
  columns.types += "\"TensorList\"", columns.values += "\"\"";
  columns.dims += '[', columns.strides += '[';
  size_t count = 0;
  for (const at::Tensor& tensor : value.toTensorVector()) {
    if (count++) columns.dims += ',', columns.strides += ',';
    if (!tensor.defined() || !is_plain(tensor)) {
      columns.dims += "[]", columns.strides += "[]";
      continue;
    }
    note_tensor(columns, tensor);
    numbers(columns.dims, tensor.sizes());
    if (tensor.layout() == at::kStrided) {
      numbers(columns.strides, tensor.strides());
    } else {
      columns.strides += "[]";
    }
  }
  columns.dims += ']', columns.strides += ']';
}

std::string decimal(double value) {
  char digits[40];
  std::string shown(digits, snprintf(digits, sizeof digits, "%.17g", value));
  if (shown.find_first_of(".en") == std::string::npos) shown += '.';
  return shown;
}

std::string scalar_text(const c10::IValue& value) {
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return decimal(value.toDouble());
  if (value.isComplexDouble()) {
    const auto number = value.toComplexDouble();
    return "(" + decimal(number.real()) + "," + decimal(number.imag()) + ")";
  }
  return "";
}

std::string list_text(const c10::IValue& value) {
  std::string shown = "[";
  size_t count = 0;
  for (const c10::IValue& item : value.toListRef()) {
    if (count) shown += ", ";
    if (count++ == kListLimit) {
      shown += "...";
      break;
    }
    shown += scalar_text(item);
  }
  return shown + "]";
}

void input(Columns& columns, const c10::IValue& value) {
  columns.begin();
  if (value.isTensor()) {
    tensor_input(columns, value.toTensor());
  } else if (value.isTensorList()) {
    tensors_input(columns, value);
  } else {
    columns.dims += "[]", columns.strides += "[]";
    const std::string shown = scalar_text(value);
    if (!shown.empty()) {
      columns.types += "\"Scalar\"";
      text(columns.values, shown);
    } else if (value.isIntList() || value.isDoubleList() || value.isBoolList()) {
      columns.types += "\"ScalarList\"";
      text(columns.values, list_text(value));
    } else {
      columns.types += "\"\"", columns.values += "\"\"";
    }
  }
}

// --------------------------------------------------------------------- what makes it new

template <typename Plain>
void add_bits(std::string& key, const Plain& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void add_numbers(std::string& key, at::IntArrayRef values) {
  key += static_cast<char>(values.size());
  key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
}

void add_tensor(std::string& key, const at::Tensor& tensor, c10::DispatchKeySet& keys) {
  if (!tensor.defined()) {
    key += 'u';
    return;
  }
  keys = keys | tensor.key_set();
  const bool plain = is_plain(tensor);
  key += plain ? 't' : 'n';
  add_bits(key, tensor.key_set().raw_repr());
  add_bits(key, static_cast<int>(tensor.scalar_type()));
  add_bits(key, tensor.device());
  if (!plain) return;
  add_numbers(key, tensor.sizes());
  if (tensor.layout() == at::kStrided) add_numbers(key, tensor.strides());
}

void add_scalar(std::string& key, const c10::IValue& value) {
  if (value.isBool()) {
    key += value.toBool() ? '1' : '0';
  } else if (value.isInt()) {
    key += 'i', add_bits(key, value.toInt());
  } else if (value.isDouble()) {
    key += 'd', add_bits(key, value.toDouble());
  } else if (value.isComplexDouble()) {
    key += 'c', add_bits(key, value.toComplexDouble());
  } else {
    key += '-';
  }
}

// Everything that `input` writes, as bytes.
void add_value(std::string& key, const c10::IValue& value, c10::DispatchKeySet& keys) {
  if (value.isTensor()) {
    add_tensor(key, value.toTensor(), keys);
  } else if (value.isTensorList()) {
    key += 'T', add_bits(key, value.toListRef().size());
    for (const c10::IValue& one : value.toListRef()) add_tensor(key, one.toTensor(), keys);
  } else if (value.isIntList() || value.isDoubleList() || value.isBoolList()) {
    const auto items = value.toListRef();
    key += 'L', add_bits(key, std::min(items.size(), kListLimit + 1));
    for (const c10::IValue& one : items.slice(0, std::min(items.size(), kListLimit + 1))) {
      add_scalar(key, one);
    }
  } else {
    add_scalar(key, value);
  }
}

// `{"ph":"M","name":"torchnav_NAME","pid":1,"args":{"NAME":7` of something that repeats.
void begin_line(std::string& out, const char* name, int value) {
  out += "{\"ph\":\"M\",\"name\":\"torchnav_";
  out += name;
  out += "\",\"pid\":", out += g_pid, out += ",\"args\":{\"";
  out += name;
  out += "\":";
  number(out, value);
}

// ---------------------------------------------------------------------------- storages

// A number for the address of a StorageImpl, one that is freed and made again has the same, and the
// version that was told last. Versions rise from step to step where all else repeats: each is told
// when it is another than before.
struct Storage {
  int32_t number;
  int64_t version;
};
std::mutex g_storages_lock;
std::unordered_map<const void*, Storage> g_storages;
int32_t g_last_storage = 0;

// 0 for a tensor without a storage. `moment`: when its version is as it is.
int32_t storage_number(Thread& thread, const c10::TensorImpl* impl, int64_t moment) {
  if (!impl->has_storage()) return 0;
  const void* address = impl->unsafe_storage().unsafeGetStorageImpl();
  if (address == nullptr) return 0;
  const c10::VariableVersion& counter = impl->version_counter();
  const int64_t version = counter.enabled() ? int64_t{counter.current_version()} : -1;
  std::lock_guard<std::mutex> guard(g_storages_lock);
  if (g_storages.size() >= kKnownLimit) g_storages.clear();
  const auto [known, is_new] = g_storages.try_emplace(address, Storage{g_last_storage + 1, 0});
  if (is_new) g_last_storage++;
  const int32_t number = known->second.number;
  if (known->second.version != version) {
    known->second.version = version;
    thread.buffer->add({moment - g_base_ns, number, version, 0, kVersion, 0, 0}, {});
  }
  return number;
}

// The number of a storage and an offset into it; 0 for a tensor without a storage.
int32_t place_number(Thread& thread, const at::Tensor& tensor, int64_t moment) {
  if (!tensor.defined() || !is_plain(tensor)) return 0;
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const int32_t storage = storage_number(thread, impl, moment);
  if (storage == 0) return 0;
  const int64_t offset = impl->storage_offset();
  std::string& key = thread.key;
  key.clear();
  add_bits(key, storage);
  add_bits(key, offset);
  return g_places.number(key, [&](std::string& out, int value) {
    begin_line(out, "tensor", value);
    out += ",\"storage\":", number(out, storage);
    out += ",\"offset\":", number(out, offset);
    out += "}},\n";
  });
}

// Those of the tensors that `input` and `output_number` tell of, and of the members of lists.
void add_places(Thread& thread, std::vector<int32_t>& places,
                c10::ArrayRef<const c10::IValue> values, int64_t moment) {
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      if (tensor.defined() && is_plain(tensor)) {
        places.push_back(place_number(thread, tensor, moment));
      }
    } else if (value.isTensorList()) {
      for (const c10::IValue& one : value.toListRef()) {
        places.push_back(place_number(thread, one.toTensor(), moment));
      }
    }
  }
}

// ------------------------------------------------------------------------------ stacks

int kind_of(PyCodeObject* code) {
  const auto known = g_kinds.find(code);
  if (known != g_kinds.end()) return known->second;
  PyObject* answer = PyObject_CallFunctionObjArgs(g_classify, code->co_filename, nullptr);
  int kind = 3;
  if (answer != nullptr) {
    kind = static_cast<int>(PyLong_AsLong(answer));
    Py_DECREF(answer);
  } else {
    PyErr_Clear();
  }
  Py_INCREF(code);  // so that its address is not used again
  return g_kinds[code] = kind;
}

PyObject* frame_fact(PyFrameObject* frame, PyCodeObject* code) {
  return Py_BuildValue("(OiO)", code->co_filename, PyFrame_GetLineNumber(frame), code->co_name);
}

int frame_position(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return frame->f_lasti;
#endif
}

// With the GIL. Takes the list.
void tell_stack(int number, PyObject* frames) {
  PyObject* line = PyObject_CallFunction(g_describe, "iN", number, frames);
  if (line != nullptr && PyBytes_Check(line)) {
    PyList_Append(g_new_stacks, line);
    const std::string text = std::string(PyBytes_AS_STRING(line), PyBytes_GET_SIZE(line)) + ",\n";
    g_tail.add_text(text.data(), text.size());
  }
  PyErr_Clear();
  Py_XDECREF(line);
}

// A line of a function of TorchScript, in the file that it was written in.
struct ScriptFrame {
  std::string path, function;
  int line;
};

// Those that are running in this thread, the innermost first.
std::vector<ScriptFrame> script_frames() {
  std::vector<ScriptFrame> frames;
  for (const torch::jit::StackEntry& entry : torch::jit::currentCallstack()) {
    const auto written = entry.range.findSourceRangeThatGenerated();  // of what a file was loaded
    const auto place = (written ? *written : entry.range).file_line_col();
    if (!place || std::get<0>(*place)[0] == '<') continue;  // torch's own, written in C++
    frames.push_back({std::get<0>(*place), entry.filename, static_cast<int>(std::get<1>(*place))});
  }
  return frames;
}

void add_script(Key& key, const ScriptFrame& frame) {
  const std::string& name = *g_script_names.insert(frame.path + '\n' + frame.function).first;
  key.frames.emplace_back(&name, frame.line);
}

PyObject* script_facts(const std::vector<ScriptFrame>& script) {
  PyObject* list = PyList_New(0);
  for (const ScriptFrame& one : script) {
    PyObject* fact = Py_BuildValue("(sis)", one.path.c_str(), one.line, one.function.c_str());
    if (fact != nullptr) PyList_Append(list, fact);
    Py_XDECREF(fact);
  }
  return list;
}

// With the GIL. Frames of TorchScript, if any, are inside of those of Python. 0 when no frame is
// left after those that are hidden.
int current_stack(const std::vector<ScriptFrame>& script) {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  Key key;
  for (const ScriptFrame& one : script) add_script(key, one);
  std::vector<PyFrameObject*> frames;
  int users = 0;
  while (frame != nullptr && (key.frames.size() < kFrameLimit ? users < kUserFrames : users == 0)) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const int kind = kind_of(code);
    if (kind == kUser || (kind != 0 && key.frames.size() < kFrameLimit)) {
      key.frames.emplace_back(code, frame_position(frame));
      Py_INCREF(frame);
      frames.push_back(frame);
      users += kind == kUser;
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  int number = 0;
  if (!key.frames.empty()) {
    const auto known = g_stacks.find(key);
    if (known != g_stacks.end()) {
      number = known->second;
    } else {
      number = static_cast<int>(g_stacks.size()) + 1;
      g_stacks.emplace(std::move(key), number);
      PyObject* list = script_facts(script);
      for (PyFrameObject* one : frames) {
        PyCodeObject* code = PyFrame_GetCode(one);
        PyObject* fact = frame_fact(one, code);
        if (fact != nullptr) {
          PyList_Append(list, fact);
          Py_DECREF(fact);
        }
        Py_DECREF(code);
      }
      tell_stack(number, list);
    }
  }
  for (PyFrameObject* one : frames) Py_DECREF(one);
  return number;
}

// The frame that this thread of Python is in, without the GIL: only to be compared.
const void* current_frame() {
  const PyThreadState* state = PyGILState_GetThisThreadState();
  if (state == nullptr) return nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  return state->current_frame;
#elif PY_VERSION_HEX >= 0x030B0000
  return state->cframe->current_frame;
#else
  return state->frame;
#endif
}

int program_stack(const std::vector<ScriptFrame>& script) {
  if (PyGILState_GetThisThreadState() == nullptr) return 0;  // no thread of Python
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
#if PY_VERSION_HEX >= 0x030B0000
  // What we ask of Python is not for the program's own debuggers and profilers.
  PyThreadState* thread = PyThreadState_Get();
  PyThreadState_EnterTracing(thread);
  const int number = current_stack(script);
  PyThreadState_LeaveTracing(thread);
#else
  const int number = current_stack(script);
#endif
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
  return number;
}

// --------------------------------------------------------------------------- callbacks

struct Context : at::ObserverContext {
  int64_t start = 0;
  int recording = 0;
  int kind = 0;
  int at = 0;
  std::vector<int32_t> places;  // of the tensors that it took
  const Thread* thread = nullptr;
  size_t depth = 0;  // operators around it
};

int keys_number(c10::DispatchKeySet set) {  // walking a set changes it before torch 2.5
  const uint64_t bits = set.raw_repr();
  const std::string key(reinterpret_cast<const char*>(&bits), sizeof bits);
  return g_keys.number(key, [&](std::string& out, int value) {
    std::string names;  // the one that is called first in front
    for (const c10::DispatchKey one : set) {
      const std::string name = std::string("\"") + c10::toString(one) + "\"";
      names = names.empty() ? name : name + "," + names;
    }
    begin_line(out, "keys", value);
    out += ",\"names\":[" + names + "]}},\n";
  });
}

// The values of this call are the last ones.
template <typename Values>
c10::ArrayRef<const c10::IValue> last(const Values& values, size_t count) {
  count = std::min<size_t>(count, values.size());
  return c10::ArrayRef<const c10::IValue>(values.data() + values.size() - count, count);
}

// The overload of a call; before torch 2.7 only a copy of the operator's name has it.
template <typename Function>
auto overload_of(const Function& fn, int) -> decltype(fn.overload_name()) {
  return fn.overload_name();
}

template <typename Function>
std::string overload_of(const Function& fn, long) {
  const auto name = fn.operator_name();
  return name ? name->overload_name : "";
}

int kind_number(Thread& thread, const at::RecordFunction& fn) {
  const auto inputs = last(fn.inputs(), fn.num_inputs());
  std::string& key = thread.key;
  key.assign(fn.name());
  key += '.';
  key += overload_of(fn, 0);
  key += static_cast<char>(fn.scope());
  c10::DispatchKeySet tensors;
  for (const c10::IValue& value : inputs) add_value(key, value, tensors);
  const auto local = c10::impl::tls_local_dispatch_key_set();
  auto set = (tensors | local.included_) - local.excluded_;
  add_bits(key, set.raw_repr());
  return g_kinds_of_call.number(key, [&](std::string& out, int value) {
    Columns columns;
    for (const c10::IValue& one : inputs) input(columns, one);
    columns.end();
    begin_line(out, "kind", value);
    std::string name = fn.name();
    const std::string overload = overload_of(fn, 0);
    if (!overload.empty()) name += "." + overload;
    out += ",\"name\":", text(out, name);
    if (fn.scope() == at::RecordScope::USER_SCOPE) out += ",\"annotation\":true";
    if (columns.types.size() > 2) {
      out += ",\"Input type\":", out += columns.types;
      out += ",\"Input Dims\":", out += columns.dims;
      out += ",\"Input Strides\":", out += columns.strides;
      out += ",\"Concrete Inputs\":", out += columns.values;
    }
    if (!columns.place.empty()) out += ",\"place\":", text(out, columns.place);
    out += ",\"keys\":", number(out, keys_number(set));
    out += "}},\n";
  });
}

int output_number(Thread& thread, const at::RecordFunction& fn) {
  const auto outputs = last(fn.outputs(), fn.num_outputs());
  std::string& key = thread.key;
  key.clear();
  for (const c10::IValue& value : outputs) {
    if (!value.isTensor()) continue;
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || !is_plain(tensor)) continue;
    add_bits(key, static_cast<int>(tensor.scalar_type()));
    add_bits(key, tensor.device());
    add_bits(key, tensor.layout());
    add_numbers(key, tensor.sizes());
  }
  if (key.empty()) return 0;
  return g_outputs.number(key, [&](std::string& out, int value) {
    std::string types, dims, devices, layouts;
    bool strided = true;
    for (const c10::IValue& one : outputs) {
      if (!one.isTensor()) continue;
      const at::Tensor& tensor = one.toTensor();
      if (!tensor.defined() || !is_plain(tensor)) continue;
      if (!types.empty()) types += ',', dims += ',', devices += ',', layouts += ',';
      const auto name = tensor.dtype().name();
      text(types, name.data(), name.size());
      numbers(dims, tensor.sizes());
      text(devices, tensor.device().str());
      text(layouts, layout_name(tensor));
      strided = strided && tensor.layout() == at::kStrided;
    }
    begin_line(out, "output", value);
    out += ",\"Output type\":[" + types + "],\"Output Dims\":[" + dims + "],\"Output device\":[" +
           devices + "]";
    if (!strided) out += ",\"Output layout\":[" + layouts + "]";
    out += "}},\n";
  });
}

// The place in the program: a Python stack and a module; 0 where there is neither.
int at_number(Thread& thread, int stack) {
  if (stack == 0 && thread.module == nullptr) return 0;
  std::string& key = thread.key;
  key.clear();
  add_bits(key, stack);
  add_bits(key, thread.module);
  return g_ats.number(key, [&](std::string& out, int value) {
    begin_line(out, "at", value);
    if (stack != 0) out += ",\"stack\":", number(out, stack);
    if (thread.module != nullptr) out += ",\"module\":", text(out, *thread.module);
    out += "}},\n";
  });
}

// Whether Python code may run between this and the operators under it.
bool may_call_python(const at::RecordFunction& fn) {
  if (fn.scope() != at::RecordScope::FUNCTION) return true;
  const char* name = fn.name();
  return strncmp(name, "aten::", 6) != 0;
}

// ----------------------------------------------------------------------------- memory

// Allocators report to what stands in the profiler's place of a thread. It says that no profiler
// is running, which is true.
struct MemoryState : torch::profiler::impl::ProfilerStateBase {
  MemoryState()
      : ProfilerStateBase(
            torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::Disabled)) {}
  bool memoryProfilingEnabled() const override {
    return g_memory && !t_ended && g_on.load(std::memory_order_relaxed);
  }
  torch::profiler::impl::ActiveProfilerType profilerType() override {
    return torch::profiler::impl::ActiveProfilerType::NONE;
  }
  void reportMemoryUsage(void* address, int64_t bytes, size_t total, size_t,
                         c10::Device device) override {
    if (!memoryProfilingEnabled()) return;
    here().buffer->add({now_ns() - g_base_ns, bytes, reinterpret_cast<int64_t>(address),
                        static_cast<int64_t>(total), kMemory,
                        static_cast<int32_t>(device.type()) * 256 + device.index() + 1, 0},
                       {});
  }
};

const auto& kProfilerState = c10::DebugInfoKind::PROFILER_STATE;
thread_local bool t_aside = false;  // the program's own profiler has the place

const std::shared_ptr<c10::DebugInfoBase>& memory_state() {
  static const std::shared_ptr<c10::DebugInfoBase> state = std::make_shared<MemoryState>();
  return state;
}

// Threads that the engine or the program starts have none at first.
void watch_memory() {
  if (!t_aside && c10::ThreadLocalDebugInfo::get(kProfilerState) == nullptr) {
    c10::ThreadLocalDebugInfo::_push(kProfilerState, memory_state());
  }
}

// False where something else was put on top of it, so that it can't be taken away.
bool leave_memory() {
  if (c10::ThreadLocalDebugInfo::get(kProfilerState) != memory_state().get()) return true;
  try {
    c10::ThreadLocalDebugInfo::_pop(kProfilerState);
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

// Whether the function of TorchScript that began last is what calls: it may have called Python,
// which is in another frame then.
bool in_script(const Thread& thread, const void* frame) {
  const auto script = std::find_if(thread.open.rbegin(), thread.open.rend(),
                                   [](const Open& one) { return one.script; });
  return script != thread.open.rend() && script->frame == frame;
}

// The stack of an operator that this thread begins; 0 where what runs around it has the same.
int stack_number(const Thread& thread, const void* frame) {
  if (!thread.open.empty() && !thread.open.back().may_call_python) return 0;
  if (in_script(thread, frame)) return program_stack(script_frames());
  // A frame that is the same as when what runs around this began has not gone on since.
  if (!thread.open.empty() && thread.open.back().frame == frame) return 0;
  return program_stack({});
}

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& fn) {
  if (!g_on.load(std::memory_order_relaxed)) return nullptr;
  Thread& thread = here();
  if (g_only && !thread.wanted) return nullptr;
  if (g_started++ >= g_limit && g_limit != 0) return nullptr;
  auto context = std::make_unique<Context>();
  const void* frame = current_frame();
  const int stack = stack_number(thread, frame);
  // A block of record_function outlives the frame that began it, whose address is used again.
  const bool outlives = fn.scope() == at::RecordScope::USER_SCOPE;
  const bool script = fn.scope() == at::RecordScope::TORCHSCRIPT_FUNCTION;
  thread.open.push_back({may_call_python(fn), script, outlives ? nullptr : frame});
  context->at = at_number(thread, stack);
  context->kind = kind_number(thread, fn);
  add_places(thread, context->places, last(fn.inputs(), fn.num_inputs()), now_ns());
  context->thread = &thread;
  context->depth = thread.open.size() - 1;
  if (g_memory) watch_memory();
  g_open++;
  context->recording = g_recording.load(std::memory_order_relaxed);
  context->start = now_ns();
  const TailOpen running{context->start - g_base_ns, context->kind, context->at};
  thread.tell(&running);
  return context;
}

void leave(const at::RecordFunction& fn, at::ObserverContext* pointer) {
  auto* context = static_cast<Context*>(pointer);
  if (context == nullptr) return;
  const int64_t duration = now_ns() - context->start;
  Thread& thread = here();
  if (context->recording == g_recording.load(std::memory_order_relaxed)) {
    const int output = output_number(thread, fn);
    std::vector<int32_t>& places = context->places;
    const size_t given = places.size();
    add_places(thread, places, last(fn.outputs(), fn.num_outputs()), context->start + duration);
    if (places.size() > kPlaces) places.clear();
    thread.buffer->add({context->start - g_base_ns, duration, fn.seqNr(),
                        static_cast<int64_t>(fn.forwardThreadId()), context->kind, output,
                        context->at, static_cast<uint16_t>(std::min(given, places.size())),
                        static_cast<uint16_t>(places.empty() ? 0 : places.size() - given)},
                       places);
  }
  if (context->thread == &thread && context->depth < thread.open.size()) {
    thread.open.resize(context->depth);
  }
  thread.tell(nullptr);
  g_open--;
}

// ------------------------------------------------------------------------------- lines

// `,"name":[1,2,...]`; with `delta` each number but the first is what was added.
template <typename Field>
void column(std::string& out, const char* name, const Row* first, const Row* end, bool delta,
            Field field) {
  out += ",\"", out += name, out += "\":[";
  int64_t before = 0;
  for (const Row* row = first; row != end; ++row) {
    if (row != first) out += ',';
    const int64_t value = field(*row);
    number(out, value - before);
    if (delta) before = value;
  }
  out += ']';
}

void thread_line(std::string& out, const std::string& tid, uint64_t forward) {
  out += "{\"ph\":\"M\",\"name\":\"torchnav_thread\",\"pid\":", out += g_pid;
  out += ",\"tid\":", out += tid, out += ",\"args\":{\"forward\":";
  number(out, static_cast<int64_t>(forward));
  out += "}},\n";
}

// `places` of the tensors of the first row and of those after it; it goes on to the others.
void rows_line(std::string& out, const std::string& tid, const Row* first, const Row* end,
               const int32_t*& places) {
  out += "{\"ph\":\"M\",\"name\":\"torchnav_ops\",\"pid\":", out += g_pid;
  out += ",\"tid\":", out += tid, out += ",\"args\":{\"count\":";
  number(out, end - first);
  column(out, "kind", first, end, false, [](const Row& row) { return row.kind; });
  column(out, "start", first, end, true, [](const Row& row) { return row.start; });
  column(out, "duration", first, end, false, [](const Row& row) { return row.duration; });
  column(out, "output", first, end, false, [](const Row& row) { return row.output; });
  column(out, "at", first, end, false, [](const Row& row) { return row.at; });
  column(out, "given", first, end, false, [](const Row& row) { return row.given; });
  column(out, "made", first, end, false, [](const Row& row) { return row.made; });
  const int32_t* begin = places;
  for (const Row* row = first; row != end; ++row) places += row->given + row->made;
  out += ",\"tensors\":", numbers(out, c10::ArrayRef<int32_t>(begin, places));
  column(out, "sequence", first, end, true, [](const Row& row) { return row.sequence; });
  column(out, "forward", first, end, false, [](const Row& row) { return row.forward; });
  out += "}},\n";
}

std::string device_name(int32_t device) {
  const auto index = static_cast<c10::DeviceIndex>(device % 256 - 1);
  return c10::Device(static_cast<c10::DeviceType>(device / 256), index).str();
}

void memory_line(std::string& out, const std::string& tid, const Row* first, const Row* end,
                 const int32_t*&) {
  std::vector<int32_t> devices;
  for (const Row* row = first; row != end; ++row) {
    const bool known = std::find(devices.begin(), devices.end(), row->output) != devices.end();
    if (!known) devices.push_back(row->output);
  }
  out += "{\"ph\":\"M\",\"name\":\"torchnav_memory\",\"pid\":", out += g_pid;
  out += ",\"tid\":", out += tid, out += ",\"args\":{\"count\":";
  number(out, end - first);
  out += ",\"devices\":[";
  for (const int32_t device : devices) {
    if (device != devices.front()) out += ',';
    text(out, device_name(device));
  }
  out += ']';
  column(out, "start", first, end, true, [](const Row& row) { return row.start; });
  column(out, "bytes", first, end, false, [](const Row& row) { return row.duration; });
  column(out, "address", first, end, true, [](const Row& row) { return row.sequence; });
  column(out, "total", first, end, true, [](const Row& row) { return row.forward; });
  column(out, "device", first, end, false, [&](const Row& row) {
    return std::find(devices.begin(), devices.end(), row.output) - devices.begin();
  });
  out += "}},\n";
}

void versions_line(std::string& out, const std::string& tid, const Row* first, const Row* end,
                   const int32_t*&) {
  out += "{\"ph\":\"M\",\"name\":\"torchnav_versions\",\"pid\":", out += g_pid;
  out += ",\"tid\":", out += tid, out += ",\"args\":{\"count\":";
  number(out, end - first);
  column(out, "start", first, end, true, [](const Row& row) { return row.start; });
  column(out, "storage", first, end, false, [](const Row& row) { return row.duration; });
  column(out, "version", first, end, false, [](const Row& row) { return row.sequence; });
  out += "}},\n";
}

// ------------------------------------------------------------------------------ module

// A fork copies this memory while other threads may be changing it.
void hold_locks() {
  here();
  g_others_run = g_threads.load() > 1;
  g_buffers_lock.lock();
  for (const auto& buffer : g_buffers) buffer->lock.lock();
  for (Interner* one : {&g_kinds_of_call, &g_keys, &g_outputs, &g_ats, &g_places}) {
    one->lock().lock();
  }
  g_storages_lock.lock();
  g_tail.lock_.lock();
  g_slots_lock.lock();
  g_modules_lock.lock();
}

void release_locks() {
  g_modules_lock.unlock();
  g_slots_lock.unlock();
  g_tail.lock_.unlock();
  g_storages_lock.unlock();
  for (Interner* one : {&g_places, &g_ats, &g_outputs, &g_keys, &g_kinds_of_call}) {
    one->lock().unlock();
  }
  for (const auto& buffer : g_buffers) buffer->lock.unlock();
  g_buffers_lock.unlock();
}

// Of the threads only this one is left. The allocators' own lock may be held for ever by another,
// which takes and gives back memory before and after its operators too.
void release_in_child() {
  release_locks();
  g_forked_beside = g_forked_beside || g_others_run;
  g_threads = 1;
  g_open = static_cast<int64_t>(here().open.size());
}

// Another recording, maybe that of a forked child, has told what this one must tell again.
void forget() {
  for (Interner* one : {&g_keys, &g_kinds_of_call, &g_outputs, &g_ats, &g_places}) one->clear();
  g_storages.clear();
  g_stacks.clear();
  Py_CLEAR(g_new_stacks);
  here().buffer->know_thread();
  std::lock_guard<std::mutex> guard(g_buffers_lock);
  for (const auto& buffer : g_buffers) buffer->restart();
}

PyObject* start(PyObject*, PyObject* args) {
  long long base = 0;
  PyObject *classify = nullptr, *describe = nullptr;
  int memory = 0, tail = -1, only = 0;
  long long limit = 0;
  if (!PyArg_ParseTuple(args, "LOOpi|Lp", &base, &classify, &describe, &memory, &tail, &limit,
                        &only)) {
    return nullptr;
  }
  if (g_handle != at::INVALID_CALLBACK_HANDLE) {
    PyErr_SetString(PyExc_RuntimeError, "already recording");
    return nullptr;
  }
  if (!g_tail.map(tail) && !g_tail.map(-1)) return PyErr_NoMemory();
  forget();
  g_memory = memory != 0 && !g_forked_beside;
  g_base_ns = base;
  g_limit = limit;
  g_only = only != 0;
  g_started = 0;
  g_recording++;
  g_pid = std::to_string(static_cast<long>(getpid()));
  Py_INCREF(classify);
  Py_XSETREF(g_classify, classify);
  Py_INCREF(describe);
  Py_XSETREF(g_describe, describe);
  if (g_new_stacks == nullptr) g_new_stacks = PyList_New(0);
  g_on = true;
  g_handle = at::addGlobalCallback(
      at::RecordFunctionCallback(enter, leave).needsInputs(true).needsOutputs(true));
  if (g_memory) watch_memory();
  return PyBool_FromLong(g_memory);
}

PyObject* is_recording(PyObject*, PyObject*) {
  return PyBool_FromLong(g_handle != at::INVALID_CALLBACK_HANDLE);
}

PyObject* stop(PyObject*, PyObject*) {
  g_on = false;
  if (g_handle != at::INVALID_CALLBACK_HANDLE) at::removeCallback(g_handle);
  g_handle = at::INVALID_CALLBACK_HANDLE;
  leave_memory();
  g_tail.stop();
  Py_RETURN_NONE;
}

// What comes from now on is not for the file; nor, in a forked child, what is still running.
PyObject* leave_tail(PyObject*, PyObject*) {
  g_tail.map(-1);
  g_recording++;  // what runs now is told by nobody
  Py_RETURN_NONE;
}

PyObject* step_aside(PyObject*, PyObject*) {
  t_aside = true;
  return PyBool_FromLong(leave_memory());
}

PyObject* step_back(PyObject*, PyObject*) {
  t_aside = false;
  if (g_memory) watch_memory();
  Py_RETURN_NONE;
}

struct Taken {
  std::string tid;
  uint64_t forward;  // 0 where it was told before
  std::vector<Row> rows;
  std::vector<int32_t> places;
};

std::vector<Taken> all_rows() {
  std::vector<Taken> taken;
  std::lock_guard<std::mutex> guard(g_buffers_lock);
  for (const auto& buffer : g_buffers) {
    std::lock_guard<std::mutex> inner(buffer->lock);
    if (buffer->rows.empty()) continue;
    taken.push_back({buffer->tid, buffer->told ? 0 : buffer->forward, {}, {}});
    buffer->told = true;
    taken.back().rows.swap(buffer->rows);
    taken.back().places.swap(buffer->places);
  }
  return taken;
}

// How rows of each kind are told; all operators have one above 0.
using Tell = void (*)(std::string&, const std::string&, const Row*, const Row*, const int32_t*&);
constexpr std::pair<int, Tell> kLines[] = {
    {kVersion, versions_line}, {1, rows_line}, {kMemory, memory_line}};

// What the rows refer to was told before them, so that it is taken after them.
std::string all_lines(const std::vector<Taken>& taken) {
  std::string lines;
  g_outputs.take(lines);
  g_places.take(lines);
  std::string kinds, ats;
  g_ats.take(ats);
  g_kinds_of_call.take(kinds);
  g_keys.take(lines);
  lines += ats + kinds;
  for (const Taken& one : taken) {
    if (one.forward != 0) thread_line(lines, one.tid, one.forward);
    const int32_t* places = one.places.data();
    for (const auto& [wanted, tell] : kLines) {
      std::vector<Row> rows;
      const auto is_wanted = [wanted = wanted](const Row& row) {
        return std::min(row.kind, 1) == wanted;
      };
      std::copy_if(one.rows.begin(), one.rows.end(), std::back_inserter(rows), is_wanted);
      const Row* end = rows.data() + rows.size();
      for (const Row* row = rows.data(); row < end; row += kRowsInLine) {
        tell(lines, one.tid, row, std::min(row + kRowsInLine, end), places);
      }
    }
  }
  return lines;
}

// (stacks, lines, operators, whole) since the last time. ``whole``: no operator was running, so
// that none of the rows lacks the row of what called it. The caller holds the GIL, so
// that programs in Python come to rest here soon; kernels of milliseconds are not waited for.
PyObject* take(PyObject*, PyObject*) {
  const int64_t deadline = now_ns() + 2000000;
  while (g_open.load() != 0 && now_ns() < deadline) {
  }
  const int64_t started = g_started.load();
  g_tail.next_text();
  bool whole = g_open.load() == 0;
  const std::vector<Taken> taken = all_rows();
  whole = whole && started == g_started.load();
  std::string lines;
  Py_ssize_t count = 0;
  Py_BEGIN_ALLOW_THREADS;
  for (const Taken& one : taken) {
    count += std::count_if(one.rows.begin(), one.rows.end(),
                           [](const Row& row) { return row.kind > kMemory; });
  }
  lines = all_lines(taken);
  Py_END_ALLOW_THREADS;
  // Places in the program are told before their stacks are taken.
  PyObject* stacks = g_new_stacks != nullptr ? g_new_stacks : PyList_New(0);
  g_new_stacks = PyList_New(0);
  return Py_BuildValue("(Ny#nO)", stacks, lines.data(), static_cast<Py_ssize_t>(lines.size()),
                       count, whole ? Py_True : Py_False);
}

PyObject* set_module(PyObject*, PyObject* args) {
  Py_ssize_t size = 0;
  const char* data = nullptr;
  int wanted = 1;
  if (!PyArg_ParseTuple(args, "s#|p", &data, &size, &wanted)) return nullptr;
  here().wanted = wanted != 0;
  if (size == 0) {
    here().module = nullptr;
  } else {
    std::lock_guard<std::mutex> guard(g_modules_lock);
    here().module = &*g_modules.emplace(data, static_cast<size_t>(size)).first;
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"start", start, METH_VARARGS,
     "start(base_ns, classify, describe, memory, tail, limit=0, only=False)"},
    {"is_recording", is_recording, METH_NOARGS, "Whether start was called and stop was not."},
    {"stop", stop, METH_NOARGS, "Record no more."},
    {"leave_tail", leave_tail, METH_NOARGS, "Write no more into the tail."},
    {"step_aside", step_aside, METH_NOARGS, "Let the program's profiler have this thread."},
    {"step_back", step_back, METH_NOARGS, "It has ended."},
    {"take", take, METH_NOARGS, "(stacks, lines, operators, whole) since the last time."},
    {"set_module", set_module, METH_VARARGS,
     "set_module(path, wanted=True): the nn.Module path of this thread."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_torchnav_native", nullptr, -1, methods,
                          nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__torchnav_native(void) {
  for (int64_t slot = kSlots; slot-- > 0;) g_free_slots.push_back(slot);
  if (!g_tail.map(-1)) return PyErr_NoMemory();  // modules are told before operators are
  pthread_atfork(hold_locks, release_locks, release_in_child);
  PyObject* module = PyModule_Create(&definition);
  if (module != nullptr) PyModule_AddIntConstant(module, "TAIL_SIZE", kTailSize);
  return module;
}
