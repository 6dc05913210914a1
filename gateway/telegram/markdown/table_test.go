package markdown

import (
	"strings"
	"testing"
)

func TestRenderTable(t *testing.T) {
	wide := strings.Repeat("w", 40)
	checkRender(t, []renderCase{
		{"F5 narrow", "x\n| a | bb |\n|:-:|---|\n| 123 | |\n| **4** | a<br>b |\n| \\| | `c` |\n\ny",
			"x\n\n<pre> a  | bb\n----+----\n123 |\n 4  | a b\n |  | c</pre>\n\ny"},
		{"display width", "|k|v|\n|-|-|\n|日本|1|\n|😀|22|", "<pre>k    | v\n-----+---\n日本 | 1\n😀   | 22</pre>"},
		{"wide", "|Name:|Text|x|\n|-|-|-|\n|a|" + wide + "|1|\n|**b**||2|",
			"<bold>Name</bold>: a\n<bold>Text</bold>: " + wide + "\n<bold>x</bold>: 1\n\n<bold>Name</bold>: <bold>b</bold>\n<bold>x</bold>: 2"},
		{"links", "|a|b|\n|-|-|\n|1|[l](https://a.b)|\n\nnext", "<bold>a</bold>: 1\n<bold>b</bold>: <text_link https://a.b>l</text_link>\n\nnext"},
		{"headers only", "|a|b|\n|-|-|", "<pre>a | b</pre>"},
		{"wide headers only", "|" + wide + "|" + wide + "|\n|-|-|", wide + "\n" + wide},
		{"in a list", "- x\n\n  |a|b|\n  |-|-|\n  |1|2|\n- y", "• x\n\n<pre>a | b\n--+--\n1 | 2</pre>\n• y"},
	})
}

// Headers are not repeated when that would multiply the text.
func TestRenderTableOfLongHeaders(t *testing.T) {
	text := "|" + strings.Repeat("h", 2000) + "|\n|-|\n" + strings.Repeat("|a|\n", 1000)
	if got := len(renderRich(text).text); got > len(text) {
		t.Errorf("%d bytes became %d", len(text), got)
	}
}

// TestTableKeepsEveryCell: no cell may vanish, whatever the model has forgotten.
func TestTableKeepsEveryCell(t *testing.T) {
	checkRender(t, []renderCase{
		{"pipe-in-code-in-a-table", "| command | what |\n|---|---|\n| `ls | wc -l` | counts files |", "<pre>command    | what\n-----------+-------------\nls | wc -l | counts files</pre>"},
		{"pipes in two codes", "|a|b|\n|-|-|\n|`x|y`|``p|`|q``|", "<pre>a   | b\n----+------\nx|y | p|`|q</pre>"},
		{"pipe in code in the header", "|`a|b`|c|\n|-|-|\n|1|2|", "<pre>a|b | c\n----+--\n1   | 2</pre>"},
		{"escaped pipe in code", "|a|b|\n|-|-|\n|`x \\| y`|2|", "<pre>a     | b\n------+--\nx | y | 2</pre>"},
		{"backticks that are no code", "|a|b|\n|-|-|\n|5` x|y` 6|", "<pre>a    | b\n-----+-----\n5` x | y` 6</pre>"},
		{"more cells than the header", "|a|b|\n|-|-|\n|1|2|3|4|", "<pre>a | b |   |\n--+---+---+--\n1 | 2 | 3 | 4</pre>"},
		{"fewer cells", "|a|b|c|\n|-|-|-|\n|1|\n|1|2|", "<pre>a | b | c\n--+---+--\n1 |   |\n1 | 2 |</pre>"},
		{"no leading pipe", "a | b\n--|--\n1 | 2 | 3", "<pre>a | b |\n--+---+--\n1 | 2 | 3</pre>"},
		{"no closing pipe", "| a | b\n|---|---\n| 1 | 2\n| 3 | 4 | 5", "<pre>a | b |\n--+---+--\n1 | 2 |\n3 | 4 | 5</pre>"},
		{"delimiter row too short", "|a|b|c|\n|-|-|\n|1|2|3|", "<pre>a | b | c\n--+---+--\n1 | 2 | 3</pre>"},
		{"delimiter row too long", "|a|b|\n|-|-|-|\n|1|2|3|", "<pre>a | b |\n--+---+--\n1 | 2 | 3</pre>"},
		{"one column", "|a|\n|-|\n|1|\n|2|3|", "<pre>a |\n--+--\n1 |\n2 | 3</pre>"},
		{"empty cells", "||b|\n|-|-|\n|1||\n||2|", "<pre>  | b\n--+--\n1 |\n  | 2</pre>"},
		{"in a quote", "> |a|b|\n> |-|-|\n> |1|2|3|", "<blockquote><pre>a | b |\n--+---+--\n1 | 2 | 3</pre></blockquote>"},
		{"in a list", "- x\n\n  |a|b|\n  |-|-|\n  |`1|`|2|3|", "• x\n\n<pre>a  | b |\n---+---+--\n1| | 2 | 3</pre>"},
		{"after a line of text", "text\n|a|b|\n|-|-|\n|1|2|3|", "text\n\n<pre>a | b |\n--+---+--\n1 | 2 | 3</pre>"},
		{"wide, with more cells", "|Name|Text|\n|-|-|\n|a|" + strings.Repeat("w", 50) + "|extra|", "<bold>Name</bold>: a\n<bold>Text</bold>: " + strings.Repeat("w", 50) + "\nextra"},
		{"links and a pipe in code", "|a|b|\n|-|-|\n|[l](https://a.b)|`x|y`|", "<bold>a</bold>: <text_link https://a.b>l</text_link>\n<bold>b</bold>: <code>x|y</code>"},
		{"wide letters", "|名|値|\n|-|-|\n|`日|本`|😀|追加|", "<pre>名    | 値 |\n------+----+-----\n日|本 | 😀 | 追加</pre>"},
		{"in a fence", "```\n|a|b|\n|-|-|\n|1|2|3|\n```", "<pre>|a|b|\n|-|-|\n|1|2|3|</pre>"},
		{"no table", "a | b\n\n|-|-|\nx | y | z", "a | b\n\n|-|-|\nx | y | z"},
	})
}
