package email_test

import (
	"os"
	"testing"

	"github.com/fermata-hq/fermata/test/standin/names"
)

func TestMain(m *testing.M) {
	names.Unknown()
	os.Exit(m.Run())
}
