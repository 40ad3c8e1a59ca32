// Records every operator of this process as rows of numbers, without the profiler.
//
// A RecordFunction callback sees what the profiler sees: composite operators, those inside
// of kernels, overloads, inputs. What repeats (an operator with inputs of these shapes, its
// results, the place in the program) is text once and a number from then on, so that a row is
// a few integers. The rows wait in memory until Python takes them as lines of a Chrome trace.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

constexpr int kFrameLimit = 40;
constexpr int kUserFrames = 3;
constexpr size_t kListLimit = 64;
constexpr size_t kKnownLimit = 1 << 18;
constexpr size_t kRowsInLine = 4096;

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

// One operator that has ended.
struct Row {
  int64_t start;
  int64_t duration;
  int64_t sequence;
  int64_t forward;
  int kind;
  int output;
  int at;
};

struct Buffer {
  std::mutex lock;
  std::string tid;
  std::vector<Row> rows;
};

// Numbers for what repeats, by its bytes; each new one is told once, as JSON.
class Interner {
 public:
  template <typename Tell>
  int number(const std::string& key, Tell tell) {
    std::lock_guard<std::mutex> guard(lock_);
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() >= kKnownLimit) numbers_.clear();  // then some are told again
    numbers_.emplace(key, ++last_);
    tell(fresh_, last_);
    return last_;
  }
  void clear() {
    std::lock_guard<std::mutex> guard(lock_);
    numbers_.clear();
    fresh_.clear();
  }
  void take(std::string& out) {
    std::lock_guard<std::mutex> guard(lock_);
    out += fresh_;
    fresh_.clear();
  }

 private:
  std::mutex lock_;
  std::unordered_map<std::string, int> numbers_;
  int last_ = 0;
  std::string fresh_;
};

std::atomic<bool> g_on{false};
std::atomic<int64_t> g_open{0};     // operators that are running
std::atomic<int64_t> g_started{0};  // operators that ever began
int64_t g_base_ns = 0;
std::string g_pid;
at::CallbackHandle g_handle = at::INVALID_CALLBACK_HANDLE;
PyObject* g_classify = nullptr;  // (path) -> 0 hidden, 1 torch, 2 library, 3 user
std::mutex g_buffers_lock;
std::vector<std::shared_ptr<Buffer>> g_buffers;
std::mutex g_modules_lock;
std::unordered_set<std::string> g_modules;  // never shrinks: threads point into it
Interner g_keys, g_kinds_of_call, g_outputs, g_ats;
// The three below are guarded by the GIL.
std::unordered_map<const void*, int> g_kinds;
std::unordered_map<Key, int, KeyHash> g_stacks;
PyObject* g_new_stacks = nullptr;  // list of (number, [(path, line, function)])

// An operator that is running, for those that it calls.
struct Open {
  bool may_call_python;
  const void* frame;
};

struct Thread {
  std::shared_ptr<Buffer> buffer = std::make_shared<Buffer>();
  const std::string* module = nullptr;
  std::vector<Open> open;
  std::string key;  // kept for its memory
  Thread() {
    buffer->tid = std::to_string(static_cast<long>(syscall(SYS_gettid)));
    std::lock_guard<std::mutex> guard(g_buffers_lock);
    g_buffers.push_back(buffer);
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

void note_tensor(Columns& columns, const at::Tensor& tensor) {
  const bool strided = tensor.layout() == at::kStrided;
  if (!columns.place.empty() || (strided && tensor.device().is_cpu())) return;
  columns.place = tensor.device().str();
  if (!strided) {
    std::ostringstream layout;
    layout << tensor.layout();
    columns.place += "/";
    for (const char c : layout.str()) columns.place += static_cast<char>(tolower(c));
  }
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

// With the GIL. 0 when no frame is left after those that are hidden.
int current_stack() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  Key key;
  std::vector<PyFrameObject*> frames;
  int users = 0;
  while (frame != nullptr && key.frames.size() < kFrameLimit && users < kUserFrames) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const int kind = kind_of(code);
    if (kind != 0) {
      key.frames.emplace_back(code, frame_position(frame));
      Py_INCREF(frame);
      frames.push_back(frame);
      users += kind == 3;
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
      PyObject* list = PyList_New(0);
      for (PyFrameObject* one : frames) {
        PyCodeObject* code = PyFrame_GetCode(one);
        PyObject* fact = frame_fact(one, code);
        if (fact != nullptr) {
          PyList_Append(list, fact);
          Py_DECREF(fact);
        }
        Py_DECREF(code);
      }
      PyObject* entry = Py_BuildValue("(iN)", number, list);
      PyList_Append(g_new_stacks, entry);
      Py_DECREF(entry);
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

int python_stack() {
  if (PyGILState_GetThisThreadState() == nullptr) return 0;  // no thread of Python
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const int number = current_stack();
  PyErr_Restore(type, value, trace);
  PyGILState_Release(state);
  return number;
}

// --------------------------------------------------------------------------- callbacks

struct Context : at::ObserverContext {
  int64_t start = 0;
  int kind = 0;
  int at = 0;
};

// `{"ph":"M","name":"torchnav_NAME","pid":1,"args":{"NAME":7` of something that repeats.
void begin_line(std::string& out, const char* name, int value) {
  out += "{\"ph\":\"M\",\"name\":\"torchnav_";
  out += name;
  out += "\",\"pid\":", out += g_pid, out += ",\"args\":{\"";
  out += name;
  out += "\":";
  number(out, value);
}

int keys_number(const c10::DispatchKeySet& set) {
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

int kind_number(Thread& thread, const at::RecordFunction& fn) {
  const auto inputs = last(fn.inputs(), fn.num_inputs());
  std::string& key = thread.key;
  key.assign(fn.name());
  key += '.';
  key += fn.overload_name();
  key += static_cast<char>(fn.scope());
  c10::DispatchKeySet tensors;
  for (const c10::IValue& value : inputs) add_value(key, value, tensors);
  const auto local = c10::impl::tls_local_dispatch_key_set();
  const auto set = (tensors | local.included_) - local.excluded_;
  add_bits(key, set.raw_repr());
  return g_kinds_of_call.number(key, [&](std::string& out, int value) {
    Columns columns;
    for (const c10::IValue& one : inputs) input(columns, one);
    columns.end();
    begin_line(out, "kind", value);
    std::string name = fn.name();
    const std::string overload = fn.overload_name();
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
    add_numbers(key, tensor.sizes());
  }
  if (key.empty()) return 0;
  return g_outputs.number(key, [&](std::string& out, int value) {
    std::string types, dims, devices;
    for (const c10::IValue& one : outputs) {
      if (!one.isTensor()) continue;
      const at::Tensor& tensor = one.toTensor();
      if (!tensor.defined() || !is_plain(tensor)) continue;
      if (!types.empty()) types += ',', dims += ',', devices += ',';
      const auto name = tensor.dtype().name();
      text(types, name.data(), name.size());
      numbers(dims, tensor.sizes());
      text(devices, tensor.device().str());
    }
    begin_line(out, "output", value);
    out += ",\"Output type\":[" + types + "],\"Output Dims\":[" + dims + "],\"Output device\":[" +
           devices + "]}},\n";
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

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& fn) {
  if (!g_on.load(std::memory_order_relaxed)) return nullptr;
  auto context = std::make_unique<Context>();
  Thread& thread = here();
  // A frame that is the same as when what runs around this began has not gone on since.
  const void* frame = current_frame();
  int stack = 0;
  if (thread.open.empty() ||
      (thread.open.back().may_call_python && thread.open.back().frame != frame)) {
    stack = python_stack();
  }
  // A block of record_function outlives the frame that began it, whose address is used again.
  const bool outlives = fn.scope() == at::RecordScope::USER_SCOPE;
  thread.open.push_back({may_call_python(fn), outlives ? nullptr : frame});
  context->at = at_number(thread, stack);
  context->kind = kind_number(thread, fn);
  g_started++;
  g_open++;
  context->start = now_ns();
  return context;
}

void leave(const at::RecordFunction& fn, at::ObserverContext* pointer) {
  auto* context = static_cast<Context*>(pointer);
  if (context == nullptr) return;
  const int64_t duration = now_ns() - context->start;
  Thread& thread = here();
  if (!thread.open.empty()) thread.open.pop_back();
  if (g_on.load(std::memory_order_relaxed)) {
    const int output = output_number(thread, fn);
    std::lock_guard<std::mutex> guard(thread.buffer->lock);
    thread.buffer->rows.push_back({context->start - g_base_ns, duration, fn.seqNr(),
                                   static_cast<int64_t>(fn.forwardThreadId()), context->kind,
                                   output, context->at});
  }
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

void rows_line(std::string& out, const std::string& tid, const Row* first, const Row* end) {
  out += "{\"ph\":\"M\",\"name\":\"torchnav_ops\",\"pid\":", out += g_pid;
  out += ",\"tid\":", out += tid, out += ",\"args\":{\"count\":";
  number(out, end - first);
  column(out, "kind", first, end, false, [](const Row& row) { return row.kind; });
  column(out, "start", first, end, true, [](const Row& row) { return row.start; });
  column(out, "duration", first, end, false, [](const Row& row) { return row.duration; });
  column(out, "output", first, end, false, [](const Row& row) { return row.output; });
  column(out, "at", first, end, false, [](const Row& row) { return row.at; });
  column(out, "sequence", first, end, true, [](const Row& row) { return row.sequence; });
  column(out, "forward", first, end, false, [](const Row& row) { return row.forward; });
  out += "}},\n";
}

// ------------------------------------------------------------------------------ module

// Another recording, maybe that of a forked child, has told what this one must tell again.
void forget() {
  for (Interner* one : {&g_keys, &g_kinds_of_call, &g_outputs, &g_ats}) one->clear();
  g_stacks.clear();
  Py_CLEAR(g_new_stacks);
  here().buffer->tid = std::to_string(static_cast<long>(syscall(SYS_gettid)));
  std::lock_guard<std::mutex> guard(g_buffers_lock);
  for (const auto& buffer : g_buffers) buffer->rows.clear();
}

PyObject* start(PyObject*, PyObject* args) {
  long long base = 0;
  PyObject* classify = nullptr;
  if (!PyArg_ParseTuple(args, "LO", &base, &classify)) return nullptr;
  if (g_handle != at::INVALID_CALLBACK_HANDLE) {
    PyErr_SetString(PyExc_RuntimeError, "already recording");
    return nullptr;
  }
  forget();
  g_base_ns = base;
  g_pid = std::to_string(static_cast<long>(getpid()));
  Py_INCREF(classify);
  Py_XSETREF(g_classify, classify);
  if (g_new_stacks == nullptr) g_new_stacks = PyList_New(0);
  g_on = true;
  g_handle = at::addGlobalCallback(
      at::RecordFunctionCallback(enter, leave).needsInputs(true).needsOutputs(true));
  Py_RETURN_NONE;
}

PyObject* stop(PyObject*, PyObject*) {
  g_on = false;
  if (g_handle != at::INVALID_CALLBACK_HANDLE) at::removeCallback(g_handle);
  g_handle = at::INVALID_CALLBACK_HANDLE;
  Py_RETURN_NONE;
}

struct Taken {
  std::string tid;
  std::vector<Row> rows;
};

std::vector<Taken> all_rows() {
  std::vector<Taken> taken;
  std::lock_guard<std::mutex> guard(g_buffers_lock);
  for (const auto& buffer : g_buffers) {
    std::lock_guard<std::mutex> inner(buffer->lock);
    if (buffer->rows.empty()) continue;
    taken.push_back({buffer->tid, {}});
    taken.back().rows.swap(buffer->rows);
  }
  return taken;
}

// What the rows refer to was told before them, so that it is taken after them.
std::string all_lines(const std::vector<Taken>& taken) {
  std::string lines;
  g_outputs.take(lines);
  std::string kinds, ats;
  g_ats.take(ats);
  g_kinds_of_call.take(kinds);
  g_keys.take(lines);
  lines += ats + kinds;
  for (const Taken& one : taken) {
    const Row* end = one.rows.data() + one.rows.size();
    for (const Row* row = one.rows.data(); row < end; row += kRowsInLine) {
      rows_line(lines, one.tid, row, std::min(row + kRowsInLine, end));
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
  bool whole = g_open.load() == 0;
  const std::vector<Taken> taken = all_rows();
  whole = whole && started == g_started.load();
  std::string lines;
  Py_ssize_t count = 0;
  Py_BEGIN_ALLOW_THREADS;
  for (const Taken& one : taken) count += static_cast<Py_ssize_t>(one.rows.size());
  lines = all_lines(taken);
  Py_END_ALLOW_THREADS;
  // Places in the program are told before their stacks are taken.
  PyObject* stacks = g_new_stacks != nullptr ? g_new_stacks : PyList_New(0);
  g_new_stacks = PyList_New(0);
  return Py_BuildValue("(Ny#nO)", stacks, lines.data(), static_cast<Py_ssize_t>(lines.size()),
                       count, whole ? Py_True : Py_False);
}

PyObject* set_module(PyObject*, PyObject* path) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(path, &size);
  if (data == nullptr) return nullptr;
  if (size == 0) {
    here().module = nullptr;
  } else {
    std::lock_guard<std::mutex> guard(g_modules_lock);
    here().module = &*g_modules.emplace(data, static_cast<size_t>(size)).first;
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, "start(base_ns, classify)"},
    {"stop", stop, METH_NOARGS, "Record no more."},
    {"take", take, METH_NOARGS, "(stacks, lines, operators, whole) since the last time."},
    {"set_module", set_module, METH_O, "The nn.Module path of this thread."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_torchnav_native", nullptr, -1, methods,
                          nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__torchnav_native(void) { return PyModule_Create(&definition); }
