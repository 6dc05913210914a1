//go:build long

package markdown

import "testing"

func TestLongNoMarkdownLetsSecretThrough(t *testing.T) { noMarkdownLetsSecretThrough(t, 500) }
