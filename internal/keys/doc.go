// Package keys holds the keys that must not be in the database: master keys, which seal the secrets in it, and the key
// that signs checkpoints of the audit chain.
//
// The keys are in one file outside the data folder. A thief who has a copy of the database but not this file cannot
// read the secrets in it, so a backup must keep the two apart.
package keys
