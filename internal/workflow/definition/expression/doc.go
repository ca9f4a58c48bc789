// Package expression evaluates the expressions of workflows, in conditions and
// within {{ }}. They are small and typed, without loops or assignments, and can
// reach only the values that they are given.
//
// The language is that of github.com/expr-lang/expr with these differences. ||
// and && return one of their operands; null, false, "", and an empty list or
// object count as absent, and 0 does not. A missing name below a known one is
// null on the left of ||, && and ??, and in a comparison with null; everywhere
// else it is an error. ! and conditions accept only booleans. Only the
// functions of this package can be called. There are limits on how much an
// evaluation may compute, copy and build.
package expression
