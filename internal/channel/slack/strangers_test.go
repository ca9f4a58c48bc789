package slack_test

import remote "github.com/fermata-hq/fermata/test/standin/slack"

// strangers returns accounts with a member's mail address that do not belong to
// the member.
func strangers(mail string) map[string]remote.User {
	return map[string]remote.User{
		"unconfirmed":           {Name: "Ada", Email: mail, Team: remote.Team, Unconfirmed: true},
		"of another workspace":  {Name: "Ada", Email: mail, Team: "T0ELSEWHERE"},
		"a bot":                 {Name: "Ada", Email: mail, Team: remote.Team, IsBot: true},
		"a deactivated account": {Name: "Ada", Email: mail, Team: remote.Team, Gone: true},
	}
}
