// Package scriptedmodel stands in for a model provider, so that real agent
// programs can be driven without one. It speaks Anthropic Messages, OpenAI
// Responses and Chat Completions, and Gemini, streaming or not, on one address;
// what it says comes from a script, and every request is kept.
package scriptedmodel
