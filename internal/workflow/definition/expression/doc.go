// Package expression evaluates what workflows write in conditions and within
// {{ }}: small typed expressions without loops, assignments or a way out of the
// values they are given.
//
// The language is that of github.com/expr-lang/expr with these differences.
// || and && return one of their operands, where null, false, "", and an empty
// list or object count as absent, and 0 does not. A name below something known
// that is missing is null on the left of ||, && and ??, and in a comparison with
// null; anywhere else it is an error. ! and conditions take booleans only. Only
// the functions of this package can be called, and what an evaluation may
// compute, copy and build is bounded.
package expression
