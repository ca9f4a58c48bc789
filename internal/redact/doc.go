// Package redact takes secrets out of what leaves the server for a channel,
// and withholds what must not reach a place that strangers can read.
//
// The rules are those of gitleaks: gitleaks.toml is config/gitleaks.toml of
// version 8.30.0 (MIT, see gitleaks.LICENSE) without the lines that hold
// sample keys. Its library is not used: it brings nearly sixty modules, among
// them decoders of archives and a configuration system, to scan repositories.
// To take over a newer set, copy the file.
package redact
