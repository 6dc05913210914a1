package latex_test

import (
	"strings"
	"testing"

	"klawbot/gateway/telegram/markdown/latex"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`x^2 + y^2 = z^2`, "x² + y² = z²"},
		{`E = mc^2`, "E = mc²"},
		{`a_1, a_{n+1}, x_{ij}^{2}`, "a₁, aₙ₊₁, xᵢⱼ²"},
		{`2^{n/2}, e^{i\pi}, x_{\text{max}}, 10^{-3}`, "2^(n/2), e^(iπ), xₘₐₓ, 10⁻³"},
		{`\frac{1}{2}`, "1/2"},
		{`x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}`, "x = (-b ± √(b² - 4ac))/(2a)"},
		{`\frac12`, "1/2"},
		{`\frac{(a+b)}{c}`, "(a+b)/c"},
		{`\sqrt[3]{x} + \sqrt[n]{y} + \sqrt 2`, "∛x + ⁿ√y + √2"},
		{`\alpha\beta \le \Gamma \cdot \infty`, "αβ ≤ Γ · ∞"},
		{`\sum_{i=1}^{n} i = \frac{n(n+1)}{2}`, "∑ᵢ₌₁ⁿ i = (n(n+1))/2"},
		{`\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}`, "∫₀^∞ e^(-x²) dx = (√π)/2"},
		{`\lim_{x \to 0} \frac{\sin x}{x} = 1`, "lim_(x → 0) (sin x)/x = 1"},
		{`\begin{pmatrix}1 & 0 \\ 0 & 1\end{pmatrix}`, "(1 0; 0 1)"},
		{`A = \begin{bmatrix} a & b \\ c & d \\ \end{bmatrix}^{-1}`, "A = [a b; c d]⁻¹"},
		{`f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}`, "f(x) = { 1 x > 0; 0 otherwise"},
		{"\\begin{aligned}\n a &= b + c \\\\\n &= d\n\\end{aligned}", "a = b + c\n= d"},
		{`\left( \frac{a}{b} \right)^2`, "( a/b )²"},
		{`\left. x \right|_{0}`, "x |₀"},
		{`\mathbb{R}^n, \mathbf{v}, \mathcal{L}`, "ℝⁿ, v, L"},
		{`\hat{x}, \vec{v}, \bar{AB}`, "x̂, v⃗, AB̄"},
		{`\binom{n}{k}, a \equiv b \pmod{m}`, "C(n, k), a ≡ b (mod m)"},
		{`\{x \mid x \in A \setminus B\}`, "{x | x ∈ A ∖ B}"},
		{`90^\circ, 5\%, \$5`, "90°, 5%, $5"},
		{`f'(x)`, "f′(x)"},
		{`P(A|B) = \dfrac{P(B|A)\,P(A)}{P(B)}`, "P(A|B) = (P(B|A) P(A))/(P(B))"},
		{`\boxed{42}`, "42"},
		{`速度 = \frac{距離}{時間}`, "速度 = 距離/時間"},
		{`A \xrightarrow{f} B`, "A —f→ B"},
	} {
		if got, ok := latex.Text(c.source); !ok || got != c.want {
			t.Errorf("%s: %q, %t, want %q", c.source, got, ok, c.want)
		}
	}
	for _, bad := range []string{`\frac{1}`, `{`, `}`, `\unknown{x}`, `\begin{tikzpicture}x\end{tikzpicture}`, `\begin{pmatrix}1 & 0 \\`, `x^`, `\`, strings.Repeat("{", 100) + strings.Repeat("}", 100), `\sqrt[3`} {
		if got, ok := latex.Text(bad); ok {
			t.Errorf("%s is read as %q", bad, got)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{`\frac{a}{b}`, `x^{2}_1`, `\begin{pmatrix}1&2\\3&4\end{pmatrix}`, `\sqrt[3]{x}`, `\\[2pt]`, `\left(\right.`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		text, _ := latex.Text(source)
		if len(text) > 20*len(source)+20 {
			t.Errorf("%d bytes became %d", len(source), len(text))
		}
	})
}
