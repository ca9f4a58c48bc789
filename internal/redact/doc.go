// Package redact removes secrets from texts that leave the server for a
// channel. It also removes the context that must not reach a place that
// strangers can read.
//
// The rules are those of gitleaks: gitleaks.toml is config/gitleaks.toml of
// version 8.30.0 (MIT, see gitleaks.LICENSE) without the lines that hold sample
// keys. The library of gitleaks is not used: it brings nearly sixty modules,
// among them decoders of archives and a configuration system, to scan
// repositories. To update the rules, copy the newer file.
package redact
