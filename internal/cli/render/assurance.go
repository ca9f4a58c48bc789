package render

import (
	"github.com/fermata-hq/fermata"
)

// AssurancePhrases names each way in which a person proves who they are.
var AssurancePhrases = map[fermata.Assurance]string{
	fermata.AssuranceChannel: "in the channel", fermata.AssuranceSession: "by a sign-in in the browser", fermata.AssurancePasskey: "by a passkey",
}
