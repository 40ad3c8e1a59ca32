#include <torch/csrc/autograd/engine.h>

namespace torch::autograd {

namespace {
static bool in_bad_autograd_fork = false;

// Called in the forked child if engine's thread pool has already been initialized
void forked_autograd_child() {
  in_bad_autograd_fork = true;
}
} // namespace

// Threads spawned by the engine are assigned a 'worker_device' specifying
// what device they process work for.
static thread_local int worker_device = NO_DEVICE;

int NodeTask::getReentrantDepth() const { //! engine NodeTask::getReentrantDepth
  std::shared_ptr<GraphTask> graph_task = base_.lock();
  return graph_task ? graph_task->reentrant_depth_ : 0;
}

auto ReadyQueue::push(NodeTask item, bool incrementOutstandingTasks) -> void { //! engine ReadyQueue::push
  {
    // Lock mutex for writing to heap_
    std::lock_guard<std::mutex> lock(mutex_);
    heap_.push(std::move(item));
  }
  not_empty_.notify_one();
}

auto ReadyQueue::pop() -> NodeTask { //! engine ReadyQueue::pop
  std::unique_lock<std::mutex> lock(mutex_);
  not_empty_.wait(lock, [this] { return !heap_.empty(); });
  auto task = std::move(const_cast<NodeTask&>(heap_.top()));
  heap_.pop();
  return task;
}

Engine::Engine() //! engine Engine::Engine
    : max_recursion_depth_(MAX_DEPTH), non_reentrant_device_thread_count_(0) {}

Engine::~Engine() { //! engine Engine::~Engine
  stop();
}

void Engine::stop() { //! engine Engine::stop
  if (stopped_) {
    return;
  }
  stopped_ = true;
}

// NOTE [ Codepaths for thread_main ]
auto Engine::thread_main(const std::shared_ptr<GraphTask>& graph_task) -> void { //! engine Engine::thread_main
  while (graph_task == nullptr || !graph_task->future_result_->completed()) {
    NodeTask task = local_ready_queue->pop();
    auto local_graph_task = task.base_.lock();
    if (task.fn_ && !local_graph_task->has_error_.load()) {
      evaluate_function(local_graph_task, task.fn_.get(), task.inputs_, local_graph_task->cpu_ready_queue_);
    }
    if (local_graph_task->completed()) {
      local_graph_task->mark_as_completed_and_run_post_processing();
    }
  }
}

bool GraphTask::completed() { //! engine GraphTask::completed
  return outstanding_tasks_.load() == 0;
}

void GraphTask::mark_as_completed_and_run_post_processing() { //! engine GraphTask::mark_as_completed_and_run_post_processing
  exec_post_processing();
}

void GraphTask::exec_post_processing() { //! engine GraphTask::exec_post_processing
  for (auto& callback : final_callbacks_) {
    callback();
  }
}

static variable_list call_function( //! engine call_function
    std::shared_ptr<GraphTask>& graph_task,
    Node* func,
    InputBuffer& inputBuffer) {
  CheckpointValidGuard cpvguard(graph_task);
  auto& fn = *func;
  auto inputs = call_tensor_pre_hooks(*func, call_pre_hooks(*func, InputBuffer::variables(std::move(inputBuffer))));
  variable_list outputs = fn(std::move(inputs));
  validate_outputs(fn.next_edges(), outputs, [&](const std::string& msg) { return msg; });
  return outputs;
}

template <typename T>
static void validate_outputs_impl(const edge_list& edges, T& grads) { //! engine validate_outputs_impl
  TORCH_CHECK(edges.size() == grads.size());
}

void validate_outputs(const edge_list& edges, variable_list& grads, const std::function<std::string(const std::string&)>& format_error) { //! engine validate_outputs
  return validate_outputs_impl(edges, grads);
}

void Engine::evaluate_function( //! engine Engine::evaluate_function
    std::shared_ptr<GraphTask>& graph_task,
    Node* func,
    InputBuffer& inputs,
    const std::shared_ptr<ReadyQueue>& cpu_ready_queue) {
  // The InputBuffer::adds that supplied incoming grads took pains to
  // ensure they're safe to consume in the context of the present stream
  auto outputs = call_function(graph_task, func, inputs);
  for (const auto i : c10::irange(outputs.size())) {
    auto queue = ready_queue(cpu_ready_queue, outputs[i].device());
    queue->push(NodeTask(graph_task, nullptr, InputBuffer(1)));
  }
}

auto Engine::compute_dependencies(Node* root, GraphTask& task, uint64_t min_topo_nr) -> void { //! engine Engine::compute_dependencies
  // Computes the number of dependencies for each function which requires grad
  std::vector<Node*> queue{root};
}

auto Engine::execute( //! engine Engine::execute
    const edge_list& root_edges,
    const variable_list& inputs,
    bool keep_graph,
    bool create_graph,
    bool accumulate_grad,
    const edge_list& outputs) -> variable_list {
  validate_outputs(root_edges, const_cast<variable_list&>(inputs), [](const std::string& msg) { return msg; });
  auto graph_task = std::make_shared<GraphTask>(keep_graph, create_graph);
  auto graph_root = std::make_shared<GraphRoot>(root_edges, inputs);
  compute_dependencies(graph_root.get(), *graph_task, 0);
  if (!outputs.empty()) {
    graph_task->init_to_execute(*graph_root, outputs, accumulate_grad, 0);
  }
  c10::intrusive_ptr<at::ivalue::Future> fut = execute_with_graph_task(graph_task, graph_root, InputBuffer(0));
  return fut->value().toTensorVector();
}

c10::intrusive_ptr<at::ivalue::Future> Engine::execute_with_graph_task( //! engine Engine::execute_with_graph_task
    const std::shared_ptr<GraphTask>& graph_task,
    std::shared_ptr<Node> graph_root,
    InputBuffer&& input_buffer) {
  initialize_device_threads_pool();
  auto queue = ready_queue(graph_task->cpu_ready_queue_, c10::Device(kCPU));
  queue->push(NodeTask(graph_task, std::move(graph_root), std::move(input_buffer)));
  thread_main(graph_task);
  return graph_task->future_result_;
}

void Engine::initialize_device_threads_pool() { //! engine Engine::initialize_device_threads_pool
  c10::call_once(start_device_threads_flag_, &Engine::start_device_threads, this);
}

auto Engine::ready_queue(std::shared_ptr<ReadyQueue> cpu_ready_queue, at::Device device) //! engine Engine::ready_queue
    -> std::shared_ptr<ReadyQueue> {
  return cpu_ready_queue;
}

auto Engine::start_device_threads() -> void { //! engine Engine::start_device_threads
  // First always initialize the thread pool for re-entrant threads
}

void GraphTask::init_to_execute( //! engine GraphTask::init_to_execute
    Node& graph_root,
    const edge_list& outputs,
    bool accumulate_grad,
    uint64_t min_topo_nr) {
  exec_info_.emplace(&graph_root, ExecInfo());
}

} // namespace torch::autograd
