package markdown

import (
	"strings"
	"testing"
)

func TestLinkable(t *testing.T) {
	for _, s := range []string{
		"https://a.b", "http://a.b:8080/c?d=e#f", "HTTPS://A.B", "https://1.2.3.4/", "http://[::1]:80/", "https://пример.рф/x",
		"https://a_b.c", "tg://resolve?domain=x", "tg://user?id=1", "https://a.b/(c)_d", "https://a.b/%20",
	} {
		if !linkable(s) {
			t.Errorf("%q is no link", s)
		}
	}
	for _, s := range []string{
		"", "a", "/a", "#a", "a.b", "//a.b", "https://", "https:///a", "https://localhost", "https://a", "https://a..b", "https://.a.b", "https://a.",
		"https://a.b:0", "https://a.b:", "https://a.b:/c", "https://a.b:70000", "https://a.b:x", "https://u@a.b", "https://a b.c", "https://a.b/c d", "https://a.b/\u200b", "https://a,b.c", "https://a%20b.c",
		"ftp://a.b", "javascript:alert(1)", "data:text/html,x", "mailto:a@b.c", "tel:+1", "tg://", "tg:resolve", "tg://a.b/c", "http://[fe80::1%25eth0]/", "https://a.b/%zz",
		"https://a.b/" + strings.Repeat("x", maxLink),
	} {
		if linkable(s) {
			t.Errorf("%q is a link", s)
		}
	}
}
