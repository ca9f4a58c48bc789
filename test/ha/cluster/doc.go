// Package cluster starts the large deployment of deploy/ha on one machine: three database machines with etcd, Patroni
// and PostgreSQL, three application machines with pgbouncer and a replica of Fermata, and HAProxy in front. Each
// machine has a loopback address of its own, so every program listens on its usual port, and the files in deploy/ha
// look as they do on real machines.
package cluster
