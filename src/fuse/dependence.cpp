#include "fuse/dependence.h"

#include <algorithm>

#include "loop/accesses.h"
#include "loop/effects.h"

namespace jumar::fuse {

using loop::BufferId;

namespace {

// Unbacked symbols that a group mentions anywhere.
void collect_unbacked(sym::Expr e, std::set<std::string>& out) {
  if (!e || !sym::mentions_kind(e, sym::SymbolKind::kUnbacked)) return;
  for (sym::Expr symbol : sym::symbols_of(e))
    if (symbol.symbol_kind() == sym::SymbolKind::kUnbacked) out.insert(symbol.symbol_name());
}

void collect_unbacked(const loop::Arg& arg, std::set<std::string>& out) {
  if (const sym::Expr* e = arg.as<sym::Expr>()) collect_unbacked(*e, out);
  if (const loop::ArgList* list = arg.list())
    for (const loop::Arg& element : *list) collect_unbacked(element, out);
}

void collect_unbacked(const loop::Kernel& kernel, std::set<std::string>& out) {
  for (const loop::Nest& nest : kernel.nests) {
    for (const loop::Axis& axis : nest.kept) collect_unbacked(axis.extent, out);
    for (const loop::Stage& stage : nest.stages) {
      for (const loop::Axis& axis : stage.inner) collect_unbacked(axis.extent, out);
      for (const loop::Stage::Line& line : stage.body) {
        collect_unbacked(line.inst.address, out);
        collect_unbacked(line.inst.guard, out);
      }
    }
  }
}

std::set<std::string> unbacked_of(const loop::Program& program, const Group& group) {
  std::set<std::string> out;
  if (const loop::Kernel* kernel = group.kernel()) collect_unbacked(*kernel, out);
  if (const auto* call = std::get_if<loop::Call>(&group.item))
    for (const loop::Arg& arg : call->args) collect_unbacked(arg, out);
  if (const auto* host = std::get_if<loop::HostOp>(&group.item))
    for (const loop::Arg& arg : host->args) collect_unbacked(arg, out);
  if (const auto* check = std::get_if<loop::Check>(&group.item)) collect_unbacked(check->predicate, out);
  auto of_type = [&](BufferId id) {
    const loop::Buffer& buffer = program.buffers[id];
    for (sym::Expr size : buffer.type.sizes) collect_unbacked(size, out);
    for (sym::Expr stride : buffer.type.strides) collect_unbacked(stride, out);
    collect_unbacked(buffer.offset, out);
  };
  for (BufferId id : group.writes) of_type(id);
  if (const auto* call = std::get_if<loop::Call>(&group.item))
    for (const loop::Arg& arg : call->args)
      ir::for_each_ref(arg, [&](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), BufferId>) of_type(ref);
      });
  return out;
}

}  // namespace

void Dependence::collect_accesses(Group& group) const {
  loop::Accesses accesses = loop::accesses_of(program_, group.item);
  // What a group both writes and reads is its own business.
  for (BufferId id : accesses.writes) accesses.reads.erase(id);
  group.reads = std::move(accesses.reads);
  group.writes = std::move(accesses.writes);
}

Dependence::Dependence(loop::Program& program)
    : program_(program),
      escapes_(program.buffers.size(), false),
      writers_(program.buffers.size()),
      readers_(program.buffers.size()) {
  for (uint32_t k = 0; k < program.items.size(); ++k) {
    Group group;
    group.item = std::move(program.items[k]);
    group.first = group.last = k;
    if (const loop::Kernel* kernel = group.kernel()) group.name = kernel->name;
    collect_accesses(group);
    if (!group.kernel())
      for (BufferId id : group.reads) escapes_[id.index()] = true;
    for (BufferId id : group.writes) writers_[id.index()].push_back(k);
    for (BufferId id : group.reads) readers_[id.index()].insert(k);
    groups.add(std::move(group));
  }
  program.items.clear();
  for (uint32_t b = 0; b < writers_.size(); ++b)
    if (writers_[b].size() > 1) written_in_parts_.insert(BufferId(b));
  for (const loop::Arg& output : program.outputs)
    ir::for_each_ref(output, [&](auto ref) {
      if constexpr (std::is_same_v<decltype(ref), BufferId>)
        escapes_[loop::storage_of(program_, ref).index()] = true;
    });
  for (uint32_t k = 0; k < groups.size(); ++k) add_edges(k);

  // Edges that don't come from buffers: unbacked symbols, host numbers, ordered calls, checks.
  std::optional<uint32_t> last_ordered;
  std::optional<uint32_t> last_check;
  for (uint32_t k = 0; k < groups.size(); ++k) {
    Group& group = groups[GroupId(k)];
    if (last_check) add_edge(*last_check, k);
    if (std::holds_alternative<loop::Check>(group.item)) last_check = k;
    add_number_edges(k);
    if (const auto* call = std::get_if<loop::Call>(&group.item)) {
      for (sym::Expr symbol : call->defines) symbol_definers_[symbol.symbol_name()] = k;
      if (loop::is_ordered_call(call->op)) {
        if (last_ordered) add_edge(*last_ordered, k);
        last_ordered = k;
      }
    } else if (const auto* host = std::get_if<loop::HostOp>(&group.item)) {
      number_definers_[host->result.index()] = k;
    }
  }
}

// From what defines the unbacked symbols and the host numbers that a group mentions.
void Dependence::add_number_edges(uint32_t index) {
  const Group& group = groups[GroupId(index)];
  for (const std::string& name : unbacked_of(program_, group))
    if (auto it = symbol_definers_.find(name); it != symbol_definers_.end()) add_edge(it->second, index);
  auto use = [&](loop::NumberId number) {
    if (auto it = number_definers_.find(number.index()); it != number_definers_.end())
      add_edge(it->second, index);
  };
  auto args = [&](const loop::ArgList& list) {
    for (const loop::Arg& arg : list)
      ir::for_each_ref(arg, [&](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), loop::NumberId>) use(ref);
      });
  };
  if (const loop::Kernel* kernel = group.kernel()) {
    for (const loop::Nest& nest : kernel->nests)
      for (const loop::Stage& stage : nest.stages)
        for (const loop::Stage::Line& line : stage.body)
          if (line.inst.kind == loop::InstKind::kParam) use(line.inst.number);
  }
  if (const auto* call = std::get_if<loop::Call>(&group.item)) args(call->args);
  if (const auto* host = std::get_if<loop::HostOp>(&group.item)) args(host->args);
}

void Dependence::add_edges(uint32_t index) {
  Group& group = groups[GroupId(index)];
  for (BufferId id : group.reads) {
    for (uint32_t writer : writers_[id.index()]) {
      if (writer == index) continue;
      // What reads a buffer between two of its writers sees the first and not the second.
      bool earlier = groups[GroupId(writer)].first < group.last;
      add_edge(earlier ? writer : index, earlier ? index : writer);
    }
  }
  for (BufferId id : group.writes) {
    for (uint32_t reader : readers_[id.index()]) {
      if (reader == index) continue;
      bool later = group.first < groups[GroupId(reader)].last;
      add_edge(later ? index : reader, later ? reader : index);
    }
    for (uint32_t writer : writers_[id.index()]) {
      if (writer == index) continue;
      bool earlier = groups[GroupId(writer)].first < group.first;
      add_edge(earlier ? writer : index, earlier ? index : writer);
    }
  }
}

void Dependence::add_edge(uint32_t from, uint32_t to) {
  groups[GroupId(from)].after.insert(to);
  groups[GroupId(to)].before.insert(from);
}

GroupId Dependence::writer(BufferId buffer) const {
  const std::vector<uint32_t>& list = writers_[buffer.index()];
  return list.empty() || written_in_parts_.contains(buffer) ? GroupId() : GroupId(list.front());
}

std::vector<GroupId> Dependence::readers(BufferId buffer) const {
  std::vector<GroupId> out;
  for (uint32_t index : readers_[buffer.index()]) out.push_back(GroupId(index));
  return out;
}

bool Dependence::reaches_indirectly(uint32_t from, uint32_t to) const {
  // Every path into `to` ends with an edge between items in program order, so a group whose first item comes
  // after the last of `to` is on none.
  uint32_t last = groups[GroupId(to)].last;
  std::vector<bool> seen(groups.size(), false);
  std::vector<uint32_t> stack;
  auto push = [&](uint32_t index) {
    if (index == to || seen[index] || groups[GroupId(index)].first >= last) return;
    seen[index] = true;
    stack.push_back(index);
  };
  for (uint32_t next : groups[GroupId(from)].after) push(next);
  while (!stack.empty()) {
    uint32_t index = stack.back();
    stack.pop_back();
    const Group& group = groups[GroupId(index)];
    if (group.after.contains(to)) return true;
    for (uint32_t next : group.after) push(next);
  }
  return false;
}

bool Dependence::may_merge(GroupId a, GroupId b) const {
  return !reaches_indirectly(a.index(), b.index()) && !reaches_indirectly(b.index(), a.index());
}

void Dependence::merge(GroupId a, GroupId b, loop::Kernel item) {
  Group& into = groups[a];
  Group& from = groups[b];
  for (uint32_t index : from.before) {
    groups[GroupId(index)].after.erase(b.index());
    if (index == a.index()) continue;
    groups[GroupId(index)].after.insert(a.index());
    into.before.insert(index);
  }
  for (uint32_t index : from.after) {
    groups[GroupId(index)].before.erase(b.index());
    if (index == a.index()) continue;
    groups[GroupId(index)].before.insert(a.index());
    into.after.insert(index);
  }
  into.before.erase(b.index());
  into.after.erase(b.index());
  for (BufferId id : from.writes) std::erase(writers_[id.index()], b.index());
  for (BufferId id : from.reads) readers_[id.index()].erase(b.index());
  into.first = std::min(into.first, from.first);
  into.last = std::max(into.last, from.last);
  from.alive = false;
  from.before.clear();
  from.after.clear();
  into.item = std::move(item);
  refresh(a);
}

void Dependence::refresh(GroupId id) {
  Group& group = groups[id];
  for (BufferId buffer : group.reads) readers_[buffer.index()].erase(id.index());
  for (BufferId buffer : group.writes) std::erase(writers_[buffer.index()], id.index());
  collect_accesses(group);
  for (BufferId buffer : group.writes) writers_[buffer.index()].push_back(id.index());
  for (BufferId buffer : group.reads) readers_[buffer.index()].insert(id.index());
  // Edges of accesses that are gone stay: they are only stricter than need be, and never contradict.
  add_edges(id.index());
  add_number_edges(id.index());
}

void Dependence::remove(GroupId id) {
  Group& group = groups[id];
  for (uint32_t index : group.before) groups[GroupId(index)].after.erase(id.index());
  for (uint32_t index : group.after) groups[GroupId(index)].before.erase(id.index());
  for (BufferId buffer : group.reads) readers_[buffer.index()].erase(id.index());
  for (BufferId buffer : group.writes) std::erase(writers_[buffer.index()], id.index());
  group.before.clear();
  group.after.clear();
  group.alive = false;
}

std::vector<GroupId> Dependence::ordered() const {
  std::vector<uint32_t> waiting(groups.size(), 0);
  std::set<std::pair<uint32_t, uint32_t>> ready;  // (last position, index)
  for (uint32_t k = 0; k < groups.size(); ++k) {
    const Group& group = groups[GroupId(k)];
    if (!group.alive) continue;
    waiting[k] = static_cast<uint32_t>(group.before.size());
    if (waiting[k] == 0) ready.insert({group.last, k});
  }
  std::vector<GroupId> out;
  while (!ready.empty()) {
    uint32_t index = ready.begin()->second;
    ready.erase(ready.begin());
    out.push_back(GroupId(index));
    for (uint32_t next : groups[GroupId(index)].after)
      if (--waiting[next] == 0) ready.insert({groups[GroupId(next)].last, next});
  }
  size_t alive = static_cast<size_t>(
      std::count_if(groups.begin(), groups.end(), [](const Group& g) { return g.alive; }));
  CHECK(out.size() == alive, "{} of {} groups can be ordered: fusion made a cycle", out.size(), alive);
  return out;
}

}  // namespace jumar::fuse
