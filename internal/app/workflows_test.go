package app

import (
	"slices"
	"testing"
)

// A secret has one spelling, however a workflow or the server's settings spell it.
func TestSecretsAreNamedAsTheirVariables(t *testing.T) {
	t.Setenv(secretVariable+"DEPLOY", "s3cret")
	if names := secretNames(); !slices.Contains(names, "DEPLOY") {
		t.Errorf("the names are %v", names)
	}
	if v, err := lookUpSecret("deploy"); err != nil || v != "s3cret" {
		t.Errorf("got %q, %v", v, err)
	}
	if _, err := lookUpSecret("other"); err == nil || err.Error() != "there is no secret OTHER" {
		t.Errorf("the error is %v", err)
	}
	check, err := secretCheck(map[string]string{"deploy": "web"})
	if err != nil {
		t.Fatal(err)
	}
	if refused := check("api", "Deploy"); refused == nil || refused.Error() != "the secret DEPLOY is not for workflows of the project api" {
		t.Errorf("the error is %v", refused)
	}
}
