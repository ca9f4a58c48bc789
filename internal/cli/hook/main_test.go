package hook_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }
