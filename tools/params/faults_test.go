package params_test

import "testing"

func TestBoundsAreWrittenAsDecimals(t *testing.T) {
	const schema = `{"type":"object","properties":{"celsius":{"type":"number","minimum":-273.15,"maximum":1000}}}`
	for arguments, want := range map[string]string{
		`{"celsius":-300}`: "parameter 'celsius' must be at least -273.15", `{"celsius":1e4}`: "parameter 'celsius' must be at most 1000",
	} {
		if err := check(schema, arguments); err == nil || err.Error() != want {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}
