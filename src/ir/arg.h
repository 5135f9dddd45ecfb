// Operator arguments and schemas, as every IR that calls operators holds them.
//
// An argument is nothing, a reference to something of the IR (a value, a tensor, a host number), an integer
// expression, a number, a bool, text, an enumeration, or a list of arguments. `BasicArg<Refs...>` is one
// IR's argument type; its Refs are that IR's typed ids.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sym/expr.h"

namespace jumar::ir {

struct NoneArg {
  bool operator==(const NoneArg&) const = default;
};

// dtype(f32), memory_format(channels_last), layout(strided), device("cpu").
struct WordArg {
  enum class Kind : uint8_t { kDType, kLayout, kMemoryFormat, kDevice } kind;
  std::string word;
  bool operator==(const WordArg&) const = default;
};

template <class... Refs>
struct BasicArg {
  using List = std::vector<BasicArg>;
  std::variant<NoneArg, Refs..., sym::Expr, double, bool, std::string, WordArg, List> data;

  BasicArg() = default;
  template <class T, class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, BasicArg>>>
  BasicArg(T&& value) : data(std::forward<T>(value)) {}

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  bool is_none() const { return std::holds_alternative<NoneArg>(data); }
  const List* list() const { return std::get_if<List>(&data); }
  bool operator==(const BasicArg&) const = default;
};

// Rebuilds an argument of one IR as an argument of another: `ref` maps each reference.
template <class To, class... Refs, class MapRef>
To converted_arg(const BasicArg<Refs...>& arg, MapRef&& ref) {
  return std::visit(
      [&](const auto& v) -> To {
        using V = std::decay_t<decltype(v)>;
        if constexpr ((std::is_same_v<V, Refs> || ...)) {
          return To(ref(v));
        } else if constexpr (std::is_same_v<V, typename BasicArg<Refs...>::List>) {
          typename To::List out;
          for (const auto& element : v) out.push_back(converted_arg<To>(element, ref));
          return To(std::move(out));
        } else {
          return To(v);
        }
      },
      arg.data);
}

// Calls visit(reference) for every reference in an argument, lists included.
template <class... Refs, class Visit>
void for_each_ref(const BasicArg<Refs...>& arg, Visit&& visit) {
  std::visit(
      [&](const auto& v) {
        using V = std::decay_t<decltype(v)>;
        if constexpr ((std::is_same_v<V, Refs> || ...)) {
          visit(v);
        } else if constexpr (std::is_same_v<V, typename BasicArg<Refs...>::List>) {
          for (const auto& element : v) for_each_ref(element, visit);
        }
      },
      arg.data);
}

// An operator's schema: the type text of each argument ("Tensor", "SymInt[]", "Tensor?", "Scalar", ...), as
// torch prints it, without alias annotations, and the types of its results.
struct SchemaArg {
  std::string type;
  std::string name;
  bool operator==(const SchemaArg&) const = default;
};
struct Schema {
  std::vector<SchemaArg> args;
  std::vector<std::string> returns;
  bool operator==(const Schema&) const = default;
};

}  // namespace jumar::ir
