package playtest

import (
	"reflect"

	"github.com/rogpeppe/go-internal/testscript"
)

// environ returns the environment that ts gives to the commands it runs. Testscript keeps it to itself: Getenv wants to
// know the name, and running env(1) through ts.Exec would put everything into the log. So it is read by reflection; a
// version of testscript that calls its field otherwise fails the test here, and testdata/script/environment.txtar shows that it works.
func environ(ts *testscript.TestScript) []string {
	field := reflect.ValueOf(ts).Elem().FieldByName("env")
	if !field.IsValid() || field.Type() != reflect.TypeFor[[]string]() {
		ts.Fatalf("play: testscript.TestScript has no field env []string any more; see conformance/playtest/environ.go")
	}
	env := make([]string, field.Len())
	for i := range env {
		env[i] = field.Index(i).String()
	}
	return append(env, "PWD="+ts.MkAbs("."))
}
