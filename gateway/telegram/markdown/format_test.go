package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// renderCase is a text and how it must look, in the notation of show.
type renderCase struct{ name, markdown, want string }

func checkRender(t *testing.T, cases []renderCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			parts := messages(c.markdown)
			if diff := cmp.Diff(c.want, show(parts)); diff != "" {
				t.Errorf("messages(%q) (-want +got):\n%s", c.markdown, diff)
			}
			for _, p := range parts {
				checkPart(t, p)
			}
		})
	}
}

func TestRenderBlocks(t *testing.T) {
	checkRender(t, []renderCase{
		{"paragraphs", "a\nb\n\nc\n\n\n\nd", "a\nb\n\nc\n\nd"},
		{"heading", "# Title\ntext\n## *Sub* `c`\n", "<bold>Title</bold>\ntext\n\n<bold><italic>Sub</italic></bold> <code>c</code>"},
		{"setext heading", "Title\n---\ntext", "<bold>Title</bold>\ntext"},
		{"rule meant", "one\ntwo\n---\nthree", "one\ntwo\n———\nthree"},
		{"rule", "a\n\n***\n\nb", "a\n\n———\n\nb"},
		{"ordered list", "3. c\n4. d\n   more\n\n1) x", "3. c\n4. d\n   more\n\n1) x"},
		{"loose list", "a:\n\n- b\n\n- c\n\n  d", "a:\n\n• b\n\n• c\n\n   d"},
		{"blocks in items", "- ```go\n  x\n  ```\n- # h\n-\n- - n", "•\n<pre go>x</pre>\n• <bold>h</bold>\n•\n•\n   • n"},
		{"ordered tasks", "1. [x] a\n2. [ ] b", "1. ☑ a\n2. ☐ b"},
		{"quote in quote", "> a\n>\n> > b\n\nc", "<blockquote>a\n\nb</blockquote>\n\nc"},
		{"quote with code", "> a\n> ```\n> x\n> ```", "<blockquote>a\n<pre>x</pre></blockquote>"},
		{"quote of eight lines", "> 1\n> 2\n> 3\n> 4\n> 5\n> 6\n> 7\n> 8", "<blockquote>1\n2\n3\n4\n5\n6\n7\n8</blockquote>"},
		{"quote of nine lines", "> 1\n> 2\n> 3\n> 4\n> 5\n> 6\n> 7\n> 8\n> 9", "<expandable_blockquote>1\n2\n3\n4\n5\n6\n7\n8\n9</expandable_blockquote>"},
		{"fence", "~~~c++ title=x\n\n  a\n\tb **c**\n\n~~~", "<pre c++>  a\n    b **c**</pre>"},
		{"fence language", "```go:main.go\nx\n```", "<pre go>x</pre>"},
		{"empty fence", "a\n```\n\n```\nb", "a\n\nb"},
		{"indented code", "a\n\n    x\n      y\n\nb", "a\n\n<pre>x\n  y</pre>\n\nb"},
		{"html", "<div>\nhi\n</div>\n\na <b>c</b><br>d <!-- e -->", "<div>\nhi\n</div>\n\na <b>c</b>\nd <!-- e -->"},
		{"definition only", "[a]: http://x", "[a]: http://x"},
		{"definition used", "[a]\n\n[a]: https://x.y", "<text_link https://x.y>a</text_link>"},
	})
}

func TestRenderInlines(t *testing.T) {
	checkRender(t, []renderCase{
		{"styles", "**b** *i* ***bi*** ~~s~~ `c` __b c__ _i_", "<bold>b</bold> <italic>i</italic> <bold><italic>bi</italic></bold> <strikethrough>s</strikethrough> <code>c</code> <bold>b c</bold> <italic>i</italic>"},
		{"code in bold", "**a `b` c**", "<bold>a</bold> <code>b</code> <bold>c</bold>"},
		{"bold in bold", "**a __b c__**", "<bold>a b c</bold>"},
		{"code with spaces", "`` ` `` ` a `", "<code>`</code> <code>a</code>"},
		{"link with code", "[`f`](https://a.b/f)", "<text_link https://a.b/f>f</text_link>"},
		{"link in bold", "**[a](https://a.b)**", "<text_link https://a.b><bold>a</bold></text_link>"},
		{"link with reference", "[a](https://a.b/?x=1&amp;y=2&z)", "<text_link https://a.b/?x=1&y=2&z>a</text_link>"},
		{"link without label", "[](https://a.b) [](/x)", "https://a.b /x"},
		{"mail and telephone", "[me](mailto:a@b.c) [a@b.c](mailto:a@b.c) [call](tel:+123)", "me (a@b.c) a@b.c call (+123)"},
		{"image", "![cat](https://a.b/c.png) ![x](c.png) [![l](https://a.b/i)](https://a.b/j)", "<text_link https://a.b/c.png>🖼 cat</text_link> 🖼 x (c.png) <text_link https://a.b/j>🖼 l</text_link>"},
		{"autolink", "<https://a.b/c>", "https://a.b/c"},
		{"escapes", `\*a\* \&lt; &lt;b&gt; &#42; &copy; &#0; &#x202e;&nope; \a`, "*a* &lt; <b> * © \uFFFD &nope; \\a"},
		{"units", "😀 **é** 👨‍👩‍👧 *x*", "😀 <bold>é</bold> 👨‍👩‍👧 <italic>x</italic>"},
		{"East Asian", "**注意：**请看**“重点”**。*（a）*の **a**", "<bold>注意：</bold>请看<bold>“重点”</bold>。<italic>（a）</italic>の <bold>a</bold>"},
		{"inside a word", "这是**重要**的 Telegram**а**", "这是<bold>重要</bold>的 Telegram<bold>а</bold>"},
	})
}

// TestEmphasisBesidePunctuation: models end bold text with a mark and go on without a
// space. CommonMark leaves the asterisks in the text then.
func TestEmphasisBesidePunctuation(t *testing.T) {
	checkRender(t, []renderCase{
		{"bold-before-latin", "**社区显示：**Fable", "<bold>社区显示：</bold>Fable"},
		{"full stop", "**完了。**OK", "<bold>完了。</bold>OK"},
		{"exclamation and question marks", "**好！**A **吗？**B", "<bold>好！</bold>A <bold>吗？</bold>B"},
		{"corner brackets", "Use**「設定」**now **「x」**です", "Use<bold>「設定」</bold>now <bold>「x」</bold>です"},
		{"brackets", "API**（接口）**v2", "API<bold>（接口）</bold>v2"},
		{"book marks", "看**《Dune》**2021", "看<bold>《Dune》</bold>2021"},
		{"curly quotes", "他说**“好”**OK", "他说<bold>“好”</bold>OK"},
		{"italic", "*注意：*Fable と*（a）*b", "<italic>注意：</italic>Fable と<italic>（a）</italic>b"},
		{"bold italic", "***注意：***Fable", "<bold><italic>注意：</italic></bold>Fable"},
		{"strike", "~~旧：~~new と~~「x」~~です", "<strikethrough>旧：</strikethrough>new と<strikethrough>「x」</strikethrough>です"},
		{"Korean particle", "**\"한국어\"**는 **텍스트(text)**를 **값:**을", "<bold>\"한국어\"</bold>는 <bold>텍스트(text)</bold>를 <bold>값:</bold>을"},
		{"code in it", "**使用`x`**命令 **「`y`」**です", "<bold>使用</bold><code>x</code>命令 <bold>「</bold><code>y</code><bold>」</bold>です"},
		{"link in it", "**[官网](https://a.b)**。**见[此](https://a.b)：**Go", "<text_link https://a.b><bold>官网</bold></text_link>。<bold>见<text_link https://a.b>此</text_link>：</bold>Go"},
		{"link before Latin", "**see [x](https://a.b/c_d)**now https://a.b/(_x_)_y_z", "<bold>see <text_link https://a.b/c_d>x</text_link></bold>now https://a.b/(_x_)_y_z"},
		{"emoji", "**完成✅**Next", "<bold>完成✅</bold>Next"},
		{"Latin label", "**Note:**text and **Stop!**Go", "<bold>Note:</bold>text and <bold>Stop!</bold>Go"},
		{"code before Latin", "**see `x`**now", "<bold>see</bold> <code>x</code>now"},
		{"in a list", "- **名称：**Foo\n- **値：**Bar", "• <bold>名称：</bold>Foo\n• <bold>値：</bold>Bar"},
		{"half", "**社区显示：**Fa", "<bold>社区显示：</bold>Fa"},
		{"every mark of the field", "**真，**她**真、**她**真；**她**真—**她**真～**她**真…**她**真·**她**真〃**她**真-**她", "<bold>真，</bold>她<bold>真、</bold>她<bold>真；</bold>她<bold>真—</bold>她<bold>真～</bold>她<bold>真…</bold>她<bold>真·</bold>她<bold>真〃</bold>她<bold>真-</bold>她"},
		{"before a Latin letter", "**历经10年发展，**a", "<bold>历经10年发展，</bold>a"},
		{"brackets and a mark", "**重要提示（Important Notice）：**请。*斜体（带括号）。*这 ~~删除（带括号）。~~这", "<bold>重要提示（Important Notice）：</bold>请。<italic>斜体（带括号）。</italic>这 <strikethrough>删除（带括号）。</strikethrough>这"},
		{"several", "**一：**A、**二：**B、**三：**C", "<bold>一：</bold>A、<bold>二：</bold>B、<bold>三：</bold>C"},
		{"unbalanced", "**未完：Fable", "**未完：Fable"},
		{"powers", "2**(3+1)**2 a:**kw", "2**(3+1)**2 a:**kw"},
	})
}

func TestRenderLiteral(t *testing.T) {
	for _, s := range []string{
		"my_var_name", "__init__.py", "call __init__ or __FILE__", "a.__dict__", "x._private and y._other_", "2*3*4", "2**10 and 3**4",
		`C:\x`, `C:\Users\new`, "5 < 6 && x", "/*comment*/", "src/**/*.go and **/*.md", "~5~10 or ~20~", "**unbalanced", "un`balanced", "a ** b ** c", "[x] [y](", "(((", "f(*args, **kwargs)",
		"https://a.b/_next_/c_d_e and https://a.b/*x*/y", "snake_case_name_.go", "$x_1 * y_2$", "a|b", "1.5 * 2 * 3", "#hashtag", "+1 (555) 0100", "<a@b.c>",
	} {
		t.Run(s, func(t *testing.T) {
			if got := show(messages(s)); got != s {
				t.Errorf("messages(%q) = %q", s, got)
			}
		})
	}
}

func TestRenderBoldAround(t *testing.T) {
	checkRender(t, []renderCase{
		{"command", "**/help** x", "<bold>/help</bold> x"},
		{"folder", "**src/** x", "<bold>src/</bold> x"},
		{"address", "**https://a.b/c_d**: x", "<bold>https://a.b/c_d</bold>: x"},
		{"name", "**__init__.py** and *my_var*", "<bold>__init__.py</bold> and <italic>my_var</italic>"},
		{"both", "_**a**_ **_b_** __Note__", "<bold><italic>a</italic></bold> <bold><italic>b</italic></bold> <bold>Note</bold>"},
	})
}

// The twelve texts that the renderers of others were tried with.
func TestRenderTricky(t *testing.T) {
	checkRender(t, []renderCase{
		{"nested list", "- one\n  - two\n    1. three\n- four", "• one\n   • two\n      1. three\n• four"},
		{"table", "| a | b |\n|---|--:|\n| 1 | 22 |\n| 你好 | `x` |", "<pre>a    |  b\n-----+---\n1    | 22\n你好 |  x</pre>"},
		{"fence with backticks", "````md\n```go\nx\n```\n````", "<pre md>```go\nx\n```</pre>"},
		{"snake case and math", "my_var_name = a*b*c, 2 * 3, __init__.py", "my_var_name = a*b*c, 2 * 3, __init__.py"},
		{"unbalanced", "**bold *it `code [a](b", "**bold *it `code [a](b"},
		{"html-ish", "<b>x</b> 1 < 2 > 0 & <a href='x'>y</a>", "<b>x</b> 1 < 2 > 0 & <a href='x'>y</a>"},
		{"emoji offsets", "👍🏽 **b** 🇩🇪 `c` 😀", "👍🏽 <bold>b</bold> 🇩🇪 <code>c</code> 😀"},
		{"quote", "> a **b**\nlazy\n\nc", "<blockquote>a <bold>b</bold>\nlazy</blockquote>\n\nc"},
		{"unclosed fence", "a\n\n```py\nx = 1\n", "a\n\n<pre py>x = 1</pre>"},
		{"backslashes", `C:\Users\x \*a\* a\\b`, `C:\Users\x *a* a\b`},
		{"heading and links", "# [T](https://a.b)\n[x](/foo) <https://c.d>", "<text_link https://a.b><bold>T</bold></text_link>\nx (/foo) https://c.d"},
		{"empty markup, NUL, bad UTF-8", "** ** `` a\x00b \xff\xfe c", "** ** `` ab \uFFFD c"},
	})
}

func TestRenderRows(t *testing.T) {
	checkRender(t, []renderCase{
		{"F3 mail", "`a` <a@b.c>", "<code>a</code> <a@b.c>"},
		{"F3 math", "`a` 5 < 6 && x", "<code>a</code> 5 < 6 && x"},
		{"F3 unbalanced", "**a `b", "**a `b"},
		{"F5 nested list", "* a\n  * b\n", "• a\n   • b"},
		{"F5 task list", "- [ ] a\n- [x] b", "☐ a\n☑ b"},
		{"F5 heading", "### A", "<bold>A</bold>"},
		{"F5 quote", "> a", "<blockquote>a</blockquote>"},
		{"F6 relative", "[a](/b)", "a (/b)"},
		{"F6 javascript", "[a](javascript:b)", "a (javascript:b)"},
		{"F6 spaces", "[a](<https://b.c/d e>)", "a (https://b.c/d e)"},
		{"F6 no host", "[a](https://)", "a (https://)"},
		{"F7 bad bytes", "a\xffb\x00\x01\u202ec", "a\uFFFDbc"},
		{"F8 empty", "", ""},
		{"F8 blank", " \n\t\n", ""},
		{"F8 invisible", "\u200b\u2800\n\u3164", ""},
	})
}
