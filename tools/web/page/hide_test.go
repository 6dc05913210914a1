package page

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestStyleSheetsHide: of each page the word "shown" is shown, and "hid" is not.
func TestStyleSheetsHide(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.com"}
	for name, page := range map[string]string{
		"a class":                  `<style>.x{display:none}</style><p>shown<p class=x>hid`,
		"an id":                    `<style>#x { visibility : hidden }</style><p>shown<p id=x>hid`,
		"opacity":                  `<style>p.x{color:red;opacity:0.0}</style><p>shown<p class="a x">hid`,
		"opacity in percent":       `<style>p.x{opacity:0%}</style><p>shown<p class=x>hid`,
		"letters of no size":       `<style>.x{font-size:0px!important}</style><p>shown<p class=x>hid`,
		"letters of a pixel":       `<style>.x{font-size:1px}</style><p>shown<p class=x>hid`,
		"an attribute":             `<style>[data-a="b c"]{display:none}</style><p>shown<p data-a="b c">hid`,
		"several selectors":        `<style>.a, .b:hover, .x{display:none}</style><p>shown<p class=x>hid<p class=b>shown`,
		"a bad selector":           `<style>..a, p[], .c::before, .x{display:none}.y{display:none}</style><p class=c>shown<p class=y>hid<p class=x>hid`,
		"pseudo-elements":          `<style>.c::before,.c:after{display:none}</style><p class=c>shown`,
		"what lies below":          `<style>div .x{display:none}</style><p class=x>shown<div><section><p class=x>hid</section></div>`,
		"what lies right below":    `<style>div>.x{display:none}</style><div><section><p class=x>shown</section><p class=x>hid</div>`,
		"the next one":             `<style>h1+p{display:none}</style><h1>shown</h1><p>hid</p><p>shown</p>`,
		"those that follow":        `<style>h1 ~ p{display:none}</style><p>shown</p><h1>shown</h1><div>shown</div><p>hid</p><p>hid</p>`,
		"steps back and forth":     `<style>.a .b > .x{display:none}</style><div class=a><div class=b><div class=b><p>shown</p><p class=x>hid</p></div></div></div>`,
		"all but one":              `<style>p:not(.y){display:none}</style><p>hid<p class=y>shown`,
		"a name with a colon":      `<style>.md\:x{display:none}</style><p>shown<p class="md:x">hid`,
		"a comment":                `<style>/* .y{display:none} */ .x/**/{display:/* none */none} .y{}</style><p class=y>shown<p class=x>hid`,
		"strings and braces":       `<style>.y::after{content:"}.y{display:none}"} .x{background:url(a;b);display:none}</style><p class=y>shown<p class=x>hid`,
		"a later rule":             `<style>.x{display:none}.x{display:block}</style><p class=x>shown`,
		"a more special rule":      `<style>p.x{display:block}.x{display:none}</style><p class=x>shown`,
		"an important rule":        `<style>.x{display:none!important}p.x{display:block}</style><p>shown<p class=x>hid`,
		"a style of its own":       `<style>.x{display:none}</style><p class=x style="display:block">shown`,
		"against its own style":    `<style>.x{display:none ! important}</style><p>shown<p class=x style="display:block">hid`,
		"attributes":               `<p>shown<p hidden>hid<p aria-hidden=true>hid<input type=hidden value=hid>`,
		"its own style alone":      `<p>shown<p style="color:red; display :none">hid<p style="font-size:0">hid<b style="font-size:12px">shown</b>`,
		"other sizes again":        `<style>ul{font-size:0}li{font-size:16px}i{font-size:2em}</style><p>shown<ul>hid<i>hid</i><li>shown</ul>`,
		"a size as around":         `<style>.x{font-size:0}.x.y{font-size:1em}</style><p class="x y">shown`,
		"visible again":            `<style>div{visibility:hidden}.y{visibility:visible}</style><div>hid<img alt=hid src=a><p class=y>shown</p></div>`,
		"two sheets":               `<style>.x{display:none}</style><style>.y{opacity:0}</style><p>shown<p class=x>hid<p class=y>hid`,
		"the page itself":          `<style>html,body{display:none;visibility:hidden;opacity:0;font-size:0}</style><p>shown`,
		"everything":               `<style>body *{display:none}</style>shown<p>hid`,
		"small screens only":       `<style>@media (max-width:600px){.x{display:none}}</style><p class=x>shown`,
		"small screens first":      `<style>.x{display:none}@media (min-width:600px){.x{display:block}}</style><p class=x>shown`,
		"paper":                    `<style>.x{display:none}@media print{.x{display:block}.y{display:none}}</style><p class=y>shown<p class=x>hid`,
		"paper by another way":     `<style media=print>.y{display:none}</style><style type=text/less>.y{display:none}</style><p class=y>shown`,
		"blocks that are no rules": `<style>@import "a";@font-face{font-family:x}@keyframes k{from{opacity:0}to{opacity:1}}.x{display:none}</style><p>shown<p class=x>hid`,
		"a rule in a rule":         `<style>.y{color:red;&.z{display:none}}.x{.q{}display:none}</style><p class=y>shown<p class=x>hid`,
		"no end":                   `<style>.x{display:none</style><p>shown<p class=x>hid`,
		"too many rules":           `<style>` + strings.Repeat(".x{display:none}", maxRules+1) + `</style><p class=x>shown`,
		"a page shown by a script": `<style>main{opacity:0}</style><p>menu</p><main>shown ` + strings.Repeat("words of the page ", 200) + `</main>`,
	} {
		t.Run(name, func(t *testing.T) {
			text, err := Markdown(t.Context(), "<!doctype html><title>T</title>"+page, at)
			if err != nil || strings.Contains(text, "hid") || strings.Count(text, "shown") != strings.Count(page, "shown") {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestStyleSheetsCostLittle bounds what hostile sheets cost.
func TestStyleSheetsCostLittle(t *testing.T) {
	at := &url.URL{Scheme: "https", Host: "example.com"}
	deep := strings.Repeat("<i>", 400) + "x" + strings.Repeat("</i>", 400)
	for name, page := range map[string]string{
		"long selectors":        fmt.Sprintf("<style>%s</style>%s", strings.Repeat(strings.Repeat("i ", 15)+"i{display:none}", 30), strings.Repeat(deep, 20/scale)),
		"many rules":            fmt.Sprintf("<style>%s</style>%s", strings.Repeat(".a>.b{display:none}", maxRules), strings.Repeat("<p class=b>x", 1000/scale)),
		"many selectors":        fmt.Sprintf("<style>%s b{display:none}</style>%s", strings.Repeat("a,", 100_000/scale), strings.Repeat("<p>x", 500)),
		"long attributes":       fmt.Sprintf("<style>%s</style><p class='%s'>x", strings.Repeat("[class*=yx]{display:none}", 900), strings.Repeat("y", 300_000/scale)),
		"open braces":           "<style>" + strings.Repeat("@media{", 100_000/scale) + "</style>",
		"open brackets":         "<style>" + strings.Repeat("a[(", 100_000/scale) + "</style>",
		"open comments":         "<style>" + strings.Repeat("/*a", 100_000/scale) + "</style>",
		"many sheets":           strings.Repeat("<style>a{display:none}", 1) + strings.Repeat("</style><style>b{display:none}", 20_000/scale),
		"styles of their own":   strings.Repeat(`<p style="display:block;font-size:10px;opacity:1">x`, 8_000/scale),
		"selectors in brackets": "<style>" + strings.Repeat(strings.Repeat(":not(", 50)+"a"+strings.Repeat(")", 50)+"{display:none}", 900) + "</style>" + strings.Repeat("<p>x", 4000/scale),
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			_, err := Markdown(t.Context(), page, at)
			took := time.Since(begun)
			t.Logf("%d bytes: %v", len(page), took)
			if err != nil || took > 30*time.Second {
				t.Errorf("%v, %v", took, err)
			}
		})
	}
}
