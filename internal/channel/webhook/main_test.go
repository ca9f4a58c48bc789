package webhook_test

import (
	"testing"

	"github.com/fermata-hq/fermata/test/standin/names"
)

func TestMain(m *testing.M) { names.Main(m) }
