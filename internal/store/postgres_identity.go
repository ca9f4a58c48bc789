package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// databaseIdentity tells databases apart. A standby has the identity of its primary.
type databaseIdentity struct {
	// system identifies the cluster. It is 0 if the role may not read it.
	system           int64
	database, schema uint32
}

// readIdentity reads the identity of the database that the connections of a pool lead to.
func readIdentity(ctx context.Context, pool *pgxpool.Pool) (id databaseIdentity, err error) {
	if err = pool.QueryRow(ctx, identitySQL).Scan(&id.database, &id.schema); err != nil {
		return id, err
	}
	if err = pool.QueryRow(ctx, systemSQL).Scan(&id.system); hasCode(err, codeNotPermitted) {
		err = nil
	}
	return id, err
}

// errOtherDatabase is the failure of a standby that belongs to another primary.
var errOtherDatabase = errors.New("it is no standby of the database of --database")

// checkSame returns an error if the other identity is known to be another one.
func (id databaseIdentity) checkSame(other databaseIdentity) error {
	isKnown := id.system != 0 && other.system != 0
	if id.database != other.database || id.schema != other.schema || isKnown && id.system != other.system {
		return errOtherDatabase
	}
	return nil
}
