// Records every operator of this process as lines of a Chrome trace, without the profiler.
//
// A RecordFunction callback sees what the profiler sees: composite operators, those inside
// of kernels, overloads, inputs. It writes each as text when it ends, so that there is
// nothing to do when the recording ends. The lines wait in memory until Python takes them.

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

struct Buffer {
  std::mutex lock;
  std::string lines;
};

std::atomic<bool> g_on{false};
std::atomic<int64_t> g_ids{1};
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
std::mutex g_keys_lock;
std::unordered_map<uint64_t, int> g_keys;
std::vector<std::pair<int, std::string>> g_new_keys;
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
  std::string tid = std::to_string(static_cast<long>(syscall(SYS_gettid)));
  const std::string* module = nullptr;
  std::vector<Open> open;
  uint64_t last_keys = 0;
  int last_number = 0;
  Thread() {
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

void microseconds(std::string& out, int64_t ns) {
  number(out, ns / 1000);
  const int64_t rest = ns % 1000;
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
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
  c10::DispatchKeySet keys;
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
  columns.keys = columns.keys | tensor.key_set();
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
  int stack = 0;
  int keys = 0;
  Columns columns;
  const std::string* module = nullptr;
};

int keys_number(Thread& thread, const c10::DispatchKeySet& tensors) {
  const auto local = c10::impl::tls_local_dispatch_key_set();
  const auto set = (tensors | local.included_) - local.excluded_;
  if (thread.last_number != 0 && thread.last_keys == set.raw_repr()) return thread.last_number;
  std::lock_guard<std::mutex> guard(g_keys_lock);
  thread.last_keys = set.raw_repr();
  const auto known = g_keys.find(set.raw_repr());
  if (known != g_keys.end()) return thread.last_number = known->second;
  const int number = static_cast<int>(g_keys.size()) + 1;
  g_keys.emplace(set.raw_repr(), number);
  thread.last_number = number;
  std::string names;  // the one that is called first in front
  for (const c10::DispatchKey key : set) {
    names = names.empty() ? c10::toString(key) : c10::toString(key) + (" " + names);
  }
  g_new_keys.emplace_back(number, std::move(names));
  return number;
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
  if (thread.open.empty() ||
      (thread.open.back().may_call_python && thread.open.back().frame != frame)) {
    context->stack = python_stack();
  }
  // A block of record_function outlives the frame that began it, whose address is used again.
  const bool outlives = fn.scope() == at::RecordScope::USER_SCOPE;
  thread.open.push_back({may_call_python(fn), outlives ? nullptr : frame});
  context->module = thread.module;
  const auto inputs = fn.inputs();
  const size_t count = std::min<size_t>(fn.num_inputs(), inputs.size());
  for (size_t i = inputs.size() - count; i < inputs.size(); ++i) {
    input(context->columns, inputs[i]);
  }
  context->columns.end();
  context->keys = keys_number(thread, context->columns.keys);
  g_started++;
  g_open++;
  context->start = now_ns();
  return context;
}

void outputs(std::string& line, const at::RecordFunction& fn) {
  const auto values = fn.outputs();
  const size_t count = std::min<size_t>(fn.num_outputs(), values.size());
  std::string types, dims;
  for (size_t i = values.size() - count; i < values.size(); ++i) {
    if (!values[i].isTensor()) continue;
    const at::Tensor& tensor = values[i].toTensor();
    if (!tensor.defined() || !is_plain(tensor)) continue;
    if (!types.empty()) types += ',', dims += ',';
    const auto name = tensor.dtype().name();
    text(types, name.data(), name.size());
    numbers(dims, tensor.sizes());
  }
  if (!types.empty()) line += ",\"Output type\":[" + types + "],\"Output Dims\":[" + dims + "]";
}

void leave(const at::RecordFunction& fn, at::ObserverContext* pointer) {
  auto* context = static_cast<Context*>(pointer);
  if (context == nullptr) return;
  const int64_t end = now_ns();
  Thread& thread = here();
  if (!thread.open.empty()) thread.open.pop_back();
  if (!g_on.load(std::memory_order_relaxed)) {
    g_open--;
    return;
  }
  std::string line;
  line.reserve(512);
  line += "{\"ph\":\"X\",\"cat\":";
  line += fn.scope() == at::RecordScope::USER_SCOPE ? "\"user_annotation\"" : "\"cpu_op\"";
  line += ",\"name\":";
  std::string name = fn.name();
  const std::string overload = fn.overload_name();
  if (!overload.empty()) name += "." + overload;
  text(line, name);
  line += ",\"pid\":", line += g_pid, line += ",\"tid\":", line += thread.tid;
  line += ",\"ts\":";
  microseconds(line, context->start - g_base_ns);
  line += ",\"dur\":";
  microseconds(line, end - context->start);
  line += ",\"args\":{\"External id\":", number(line, g_ids++);
  if (fn.seqNr() >= 0 || fn.forwardThreadId() != 0) {
    line += ",\"Sequence number\":", number(line, fn.seqNr());
    line += ",\"Fwd thread id\":", number(line, static_cast<int64_t>(fn.forwardThreadId()));
  }
  const Columns& columns = context->columns;
  if (columns.types.size() > 2) {
    line += ",\"Input type\":", line += columns.types;
    line += ",\"Input Dims\":", line += columns.dims;
    line += ",\"Input Strides\":", line += columns.strides;
    line += ",\"Concrete Inputs\":", line += columns.values;
  }
  outputs(line, fn);
  if (context->stack != 0) line += ",\"stack\":", number(line, context->stack);
  if (context->module != nullptr) line += ",\"module\":", text(line, *context->module);
  if (!columns.place.empty()) line += ",\"place\":", text(line, columns.place);
  line += ",\"keys\":", number(line, context->keys);
  line += "}},\n";
  {
    std::lock_guard<std::mutex> guard(thread.buffer->lock);
    thread.buffer->lines += line;
  }
  g_open--;
}

// ------------------------------------------------------------------------------ module

PyObject* start(PyObject*, PyObject* args) {
  long long base = 0;
  PyObject* classify = nullptr;
  if (!PyArg_ParseTuple(args, "LO", &base, &classify)) return nullptr;
  if (g_handle != at::INVALID_CALLBACK_HANDLE) {
    PyErr_SetString(PyExc_RuntimeError, "already recording");
    return nullptr;
  }
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

std::string all_lines() {
  std::string lines;
  std::lock_guard<std::mutex> guard(g_buffers_lock);
  for (const auto& buffer : g_buffers) {
    std::lock_guard<std::mutex> inner(buffer->lock);
    if (lines.empty()) {
      lines.swap(buffer->lines);
    } else {
      lines += buffer->lines;
      buffer->lines.clear();
    }
  }
  return lines;
}

// (stacks, keys, lines, whole) since the last time. ``whole``: no operator was running, so
// that none of the lines lacks the line of what called it. The caller holds the GIL, so
// that programs in Python come to rest here soon; kernels of milliseconds are not waited for.
PyObject* take(PyObject*, PyObject*) {
  const int64_t deadline = now_ns() + 2000000;
  while (g_open.load() != 0 && now_ns() < deadline) {
  }
  const int64_t started = g_started.load();
  bool whole = g_open.load() == 0;
  // Lines first: what they refer to was noted before them.
  const std::string lines = all_lines();
  whole = whole && started == g_started.load();
  PyObject* stacks = g_new_stacks != nullptr ? g_new_stacks : PyList_New(0);
  g_new_stacks = PyList_New(0);
  PyObject* keys = PyList_New(0);
  {
    std::lock_guard<std::mutex> guard(g_keys_lock);
    for (const auto& [number, names] : g_new_keys) {
      PyObject* entry = Py_BuildValue("(is)", number, names.c_str());
      PyList_Append(keys, entry);
      Py_DECREF(entry);
    }
    g_new_keys.clear();
  }
  return Py_BuildValue("(NNy#O)", stacks, keys, lines.data(),
                       static_cast<Py_ssize_t>(lines.size()), whole ? Py_True : Py_False);
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
    {"take", take, METH_NOARGS, "(stacks, keys, lines, whole) since the last time."},
    {"set_module", set_module, METH_O, "The nn.Module path of this thread."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_torchnav_native", nullptr, -1, methods,
                          nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__torchnav_native(void) { return PyModule_Create(&definition); }
