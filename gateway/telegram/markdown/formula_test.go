package markdown

import "testing"

// TestFormulas: LaTeX is shown as text, or as it was written.
func TestFormulas(t *testing.T) {
	checkRender(t, []renderCase{
		{"formula", `\[\begin{pmatrix}1 & 0 \\ 0 & 1\end{pmatrix}\]`, "(1 0; 0 1)"},
		{"inline", `If \(x^2 = 4\), then \(x = \pm 2\).`, "If x² = 4, then x = ± 2."},
		{"display", "The formula:\n\n\\[\nE = mc^2\n\\]\n\nwhere \\(m\\) is the mass.", "The formula:\n\nE = mc²\n\nwhere m is the mass."},
		{"display with blank lines", "\\[\n\nx = \\frac{1}{2}\n\n\\]", "x = 1/2"},
		{"dollars", "$E = mc^2$ and $$\\frac{a}{b}$$ and $x$", "E = mc² and a/b and x"},
		{"money", "$5 and $6, US$5 to US$10, $5/$6, $5-$10, 5$ or 6$, $1,000 + $2, A$15 (C$16)", "$5 and $6, US$5 to US$10, $5/$6, $5-$10, 5$ or 6$, $1,000 + $2, A$15 (C$16)"},
		{"rates", "$/PR is down but $/session is up", "$/PR is down but $/session is up"},
		{"sums of thousands", "the $2k cohort and the $25-50k tier ($7 front end, $10k whales, $50k+, $5-10k)", "the $2k cohort and the $25-50k tier ($7 front end, $10k whales, $50k+, $5-10k)"},
		{"bold sums", "pay **$1.50** for it and **$4** more", "pay <bold>$1.50</bold> for it and <bold>$4</bold> more"},
		{"a sum in a formula", `bet $\$0.60$ on A and $\$0.50$ on B`, "bet $0.60 on A and $0.50 on B"},
		{"a reaction", `$C \rightarrow S$ costs $5 and $10`, "C → S costs $5 and $10"},
		{"money and words", "It costs $5 = five dollars, you have 6$ and $$ is slang: $$ to $$$.", "It costs $5 = five dollars, you have 6$ and $$ is slang: $$ to $$$."},
		{"variables of a shell", "$HOME and $PATH, $A/$B, $HOME_DIR/$USER_X, $a=$b, ${x}", "$HOME and $PATH, $A/$B, $HOME_DIR/$USER_X, $a=$b, ${x}"},
		{"escaped dollars", `\$5 and \$6`, "$5 and $6"},
		{"escaped brackets", `see \[1\], \[x\](https://a.b) and \(optional\)`, "see [1], [x](https://a.b) and (optional)"},
		{"in code", "`\\(x\\)` and `$x^2$`\n\n```tex\n\\[x^2\\]\n$$y$$\n```\n\n    $z^2$", "<code>\\(x\\)</code> and <code>$x^2$</code>\n\n<pre tex>\\[x^2\\]\n$$y$$</pre>\n\n<pre>$z^2$</pre>"},
		{"in a list and a quote", "- \\(a_1\\)\n- $b_2$\n\n> $$\n> c^2 +\n> d^2\n> $$", "• a₁\n• b₂\n\n<blockquote>c² + d²</blockquote>"},
		{"in a table", "|f|v|\n|-|-|\n|\\(x^2\\)|$\\frac{1}{2}$|\n|$|a|$|b|", "<pre>f  | v   |   |\n---+-----+---+--\nx² | 1/2 |   |\n$  | a   | $ | b</pre>"},
		{"in bold and a heading", "# The \\(n\\)th\n**\\(x\\)** is", "<bold>The nth</bold>\n<bold>x</bold> is"},
		{"lines", "\\begin{align}\na &= b \\\\\n- c &= d\n\\end{align}", "a = b\n- c = d"},
		{"signs of Markdown", "\\[\na*b*c = d_1 e_2\n= f\n\\]", "a*b*c = d₁ e₂ = f"},
		{"unknown commands", `\[\ce{H2O}\] and \(\foo{*x*}\)`, "<code>\\[\\ce{H2O}\\]</code> and <code>\\(\\foo{*x*}\\)</code>"},
		{"half", "so \\[\\begin{pmatrix}1 & 0 \\\\ 0", "so \\[\\begin{pmatrix}1 & 0 \\\\ 0"},
		{"half of a fraction", `so \(\frac{a}{b`, `so \(\frac{a}{b`},
		{"half with dollars", `so $$\frac{a}{`, `so $$\frac{a}{`},
		{"beside other letters", "其中$x$是，$y$는 변수", "其中x是，y는 변수"},
		{"Greek", `$\alpha$, $\Delta t$, \(\lambda_{max}\)`, "α, Δ t, λₘₐₓ"},
		{"link", "[$x^2$](https://a.b/$x$)", "<text_link https://a.b/$x$>x²</text_link>"},
		{"paths", `C:\(x86)\[a] and \\server\share`, `C:(x86)[a] and \server\share`},
		{"private characters", "a\U00100000b $x^2$", "a\uFFFDb x²"},
		{"programs", "f(x) = $x_1 * y_2$ and jQuery $('#a') + $('.b')", "f(x) = $x_1 * y_2$ and jQuery $('#a') + $('.b')"},
	})
}
