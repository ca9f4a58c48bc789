// Package scriptedmodel replaces a model provider, so that real agent programs can be driven without one. It speaks
// Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini, streaming or not, on one address. Its replies
// come from a script, and it records every request.
package scriptedmodel
