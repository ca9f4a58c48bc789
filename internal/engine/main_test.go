package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
