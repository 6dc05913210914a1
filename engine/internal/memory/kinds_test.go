package memory_test

import (
	"slices"
	"strings"
	"testing"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// search is a question to some memories by keywords alone. It must find want, in any
// order, and first as the first one where that is given.
type search struct {
	name, query string
	texts       []string // those of the case before where nil
	want        []int    // places in texts
	first       bool     // the first of want must be the first hit; others may follow
}

// testSearches saves the texts of each case and asks for them.
func testSearches(t *testing.T, all []search) {
	t.Helper()
	for i, c := range all {
		if c.texts == nil {
			c.texts = all[i-1].texts
			all[i].texts = c.texts
		}
		t.Run(c.name, func(t *testing.T) {
			s := openStore(t)
			for _, text := range c.texts {
				save(t, s, store.Memory{Content: text, Source: text})
			}
			got := contents(t, newMemory(s, nil), memory.Query{Text: c.query})
			if c.first {
				if len(got) == 0 || got[0] != c.texts[c.want[0]] {
					t.Errorf("%q finds %q, want %q first", c.query, got, c.texts[c.want[0]])
				}
				return
			}
			var want []string
			for _, n := range c.want {
				want = append(want, c.texts[n])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%q finds %q, want %q", c.query, got, want)
			}
		})
	}
}

func TestSearchFindsSigns(t *testing.T) {
	marks := []string{"🔴 pay the rent of the cellar", "the boiler was serviced", "🟢 the bikes are oiled"}
	emoji := []string{"👍🏽 from Ben for the plan", "👩‍💻 stand-up at nine", "👨‍👩‍👧 picnic in the park", "❤️ the blue cup", "trip to 🇩🇪 in May", "trip to 🇫🇷 in June", "step 1️⃣ is done", "🏴󠁧󠁢󠁳󠁣󠁴󠁿 whisky list"}
	signs := []string{"rent is €950", "rent was $800", "x ≤ 5 and ∑ of all", "see § 14 of the contract", "the heating stays below 21°", "50% off the skis", "yes → left", "∞ symbol on the ring", "Acme™ is our partner", "done ✓ laundry"}
	testSearches(t, []search{
		{name: "search-for-a-sign", query: "🔴", texts: marks, want: []int{0}},
		{name: "search-for-a-sign, none has it", query: "🟣", want: nil},
		{name: "search-for-a-sign, with a word", query: "🔴 rent", want: []int{0}},
		{name: "search-for-a-sign, two signs", query: "🔴🟢", want: []int{0, 2}},
		{name: "search-for-a-sign, a smiley says no more", query: "was the boiler serviced? 😊", want: []int{1}},
		{name: "search-for-a-sign, skin tone", query: "👍🏽", texts: emoji, want: []int{0}},
		{name: "search-for-a-sign, without the tone", query: "👍", want: []int{0}},
		{name: "search-for-a-sign, another tone", query: "👍🏿", want: []int{0}},
		{name: "search-for-a-sign, joined", query: "👩‍💻", want: []int{1}},
		{name: "search-for-a-sign, joined, with a tone", query: "👩🏾‍💻", want: []int{1}},
		{name: "search-for-a-sign, a part", query: "💻", want: []int{1}},
		{name: "search-for-a-sign, a family", query: "👨‍👩‍👧", want: []int{2}},
		{name: "search-for-a-sign, variation selector", query: "❤", want: []int{3}},
		{name: "search-for-a-sign, variation selector in both", query: "❤️", want: []int{3}},
		{name: "search-for-a-sign, flag", query: "🇩🇪", want: []int{4}},
		{name: "search-for-a-sign, other flag", query: "🇫🇷", want: []int{5}},
		{name: "search-for-a-sign, halves of two flags are none", query: "🇪🇫", want: nil},
		{name: "search-for-a-sign, keycap", query: "1️⃣", want: []int{6}},
		{name: "search-for-a-sign, flag of a region", query: "🏴󠁧󠁢󠁳󠁣󠁴󠁿", want: []int{7}},
		{name: "search-for-a-sign, euro", query: "€", texts: signs, want: []int{0}},
		{name: "search-for-a-sign, euro and number", query: "€950", want: []int{0}},
		{name: "search-for-a-sign, dollar", query: "$", want: []int{1}},
		{name: "search-for-a-sign, less or equal", query: "≤", want: []int{2}},
		{name: "search-for-a-sign, sum", query: "∑", want: []int{2}},
		{name: "search-for-a-sign, paragraph", query: "§", want: []int{3}},
		{name: "search-for-a-sign, paragraph and number", query: "§14", want: []int{3}},
		{name: "search-for-a-sign, degree", query: "21°", want: []int{4}},
		{name: "search-for-a-sign, number sign", query: "№5", texts: []string{"шкафчик № 5", "дом 7", "квартира №12"}, want: []int{0}, first: true},
		{name: "search-for-a-sign, number sign apart", query: "№ 12", want: []int{2}, first: true},
		{name: "search-for-a-sign, percent", query: "%", texts: signs, want: []int{5}},
		{name: "search-for-a-sign, arrow", query: "→", want: []int{6}},
		{name: "search-for-a-sign, infinity", query: "∞", want: []int{7}},
		{name: "search-for-a-sign, written on to a word", query: "Acme", want: []int{8}},
		{name: "search-for-a-sign, trademark", query: "™", want: []int{8}},
		{name: "search-for-a-sign, check mark", query: "✓", want: []int{9}},
		{name: "search-for-a-sign, check mark as emoji", query: "✓️", want: []int{9}},
		{name: "search-for-a-sign, words as before", query: "contract heating", want: []int{3, 4}},
	})
}

func TestSearchFindsNamesWithSigns(t *testing.T) {
	code := []string{"Anna learns C++ on Mondays", "the C# course starts in May", "vitamin C with breakfast", "we moved to .NET 8", "net income was low", "R&D moves to floor 3", "the letters r, d and x", "Ben writes F# now", "a C/C++ project"}
	tags := []string{"#garden buy seeds", "ask @marta_k for the key", "Marta lives in Graz", "mail to anna.berg@example.com", "docs at https://example.org/guide/start?lang=en#top", "Wi-Fi password is under the router", "the WiFi card is broken", "node.js is on the server", "the U.S.A. tour"}
	testSearches(t, []search{
		{name: "search-for-a-sign, C++", query: "C++", texts: code, want: []int{0, 8}},
		{name: "search-for-a-sign, c++ in a question", query: "who learns c++?", want: []int{0}, first: true},
		{name: "search-for-a-sign, C#", query: "C#", want: []int{1}},
		{name: "search-for-a-sign, F#", query: "f#", want: []int{7}},
		{name: "search-for-a-sign, .NET", query: ".NET", want: []int{3}},
		{name: "search-for-a-sign, R&D", query: "R&D", want: []int{5}},
		{name: "search-for-a-sign, a plain word stays", query: "vitamin", want: []int{2}},
		{name: "search-for-a-sign, what no text has goes by its word", query: "vitamin++", want: []int{2}},
		{name: "search-for-a-sign, hashtag", query: "#garden", texts: tags, want: []int{0}},
		{name: "search-for-a-sign, tag without its sign", query: "garden", want: []int{0}},
		{name: "search-for-a-sign, name", query: "@marta_k", want: []int{1}, first: true},
		{name: "search-for-a-sign, address", query: "anna.berg@example.com", want: []int{3}, first: true},
		{name: "search-for-a-sign, host", query: "example.org", want: []int{4}, first: true},
		{name: "search-for-a-sign, URL", query: "https://example.org/guide/start?lang=en", want: []int{4}, first: true},
		{name: "search-for-a-sign, hyphen", query: "wifi", want: []int{5, 6}},
		{name: "search-for-a-sign, with hyphen", query: "Wi-Fi", want: []int{5, 6}},
		{name: "search-for-a-sign, node.js", query: "nodejs", want: []int{7}},
		{name: "search-for-a-sign, USA", query: "USA", want: []int{8}},
	})
}

// TestSearchFindsNumbersWithTheirWords: a number that belongs to a word is found whether
// there is a space between them or not.
func TestSearchFindsNumbersWithTheirWords(t *testing.T) {
	texts := []string{"the plumber comes at 3pm", "tea with Anna at 4 pm", "the iPhone 15 is in the drawer", "Ben sold his iphone14", "the flour has 5kg", "Raum 12 ist frei", "15 apples", "flight LH 1234 at gate B22", "the Wi\u2011Fi code"}
	testSearches(t, []search{
		{name: "hour, apart", query: "3 pm", texts: texts, want: []int{0}, first: true},
		{name: "hour, together", query: "4pm", want: []int{1}, first: true},
		{name: "model, together", query: "iphone15", want: []int{2}, first: true},
		{name: "model, apart", query: "iPhone 14", want: []int{3}, first: true},
		{name: "model, as written", query: "iPhone 15", want: []int{2}, first: true},
		{name: "weight", query: "5 kg", want: []int{4}, first: true},
		{name: "room", query: "Raum12", want: []int{5}, first: true},
		{name: "flight", query: "LH1234", want: []int{7}, first: true},
		{name: "gate", query: "B 22", want: []int{7}, first: true},
		{name: "hyphen without a break", query: "wifi", want: []int{8}},
		{name: "the number alone", query: "15", want: []int{2, 6}},
	})
}

func TestSearchFindsNumbers(t *testing.T) {
	numbers := []string{
		"plumber: +49 170 1234567", "dentist 0316/98 76 54", "release 1.2.3 is out", "release 1.3.2 is planned", "the visit is on 2026-11-29", "passport until 29.11.2031",
		"the oven needs 1,200 watts", "train at 9:30", "server 192.168.1.17", "version v2.10 fixes it", "birthday on 3.5.1990",
	}
	testSearches(t, []search{
		{name: "search-for-a-sign, phone number without spaces", query: "+491701234567", texts: numbers, want: []int{0}},
		{name: "search-for-a-sign, phone number from here", query: "0170 1234567", want: []int{0}},
		{name: "search-for-a-sign, phone number with other separators", query: "0316-987654", want: []int{1}},
		{name: "search-for-a-sign, version", query: "1.2.3", want: []int{2}},
		{name: "search-for-a-sign, version with v", query: "v1.2.3", want: []int{2}},
		{name: "search-for-a-sign, version without v", query: "2.10", want: []int{9}},
		{name: "search-for-a-sign, date", query: "2026-11-29", want: []int{4}},
		{name: "search-for-a-sign, date with points", query: "29.11.2026", want: []int{4}},
		{name: "search-for-a-sign, date with slashes", query: "11/29/2026", want: []int{4}},
		{name: "search-for-a-sign, date with zeros", query: "03.05.1990", want: []int{10}},
		{name: "search-for-a-sign, day of a year in words", query: "what is on 2026-11-29?", want: []int{4}},
		{name: "search-for-a-sign, thousands", query: "1200", want: []int{6}},
		{name: "search-for-a-sign, time with a point", query: "9.30", want: []int{7}},
		{name: "search-for-a-sign, network address", query: "192.168.1.17", want: []int{8}},
		{name: "search-for-a-sign, part of a number", query: "1990", want: []int{10}},
	})
}

func TestSearchFindsWordsWithArticles(t *testing.T) {
	arabic := []string{"رأيت الطبيب في المستشفى", "الموعد مع المحامية يوم الأحد", "والكتاب على الطاولة", "ذهبنا بالسيارة إلى البحر", "لِلْمَدْرَسَةِ بابٌ كبير", "سألت طبيبًا آخر"}
	hebrew := []string{"הרופא אמר לנוח", "המפתח נמצא בבית", "הלכנו לגן עם הילדים", "שָׁלוֹם לכולם", "ושהמכונית במוסך", "פגישה מהבנק ביום שני"}
	testSearches(t, []search{
		{name: "search-with-article", query: "طبيب", texts: arabic[:5], want: []int{0}},
		{name: "search-with-article, asked with it", query: "الطبيب", want: []int{0}},
		{name: "search-with-article, both", query: "الطبيب", texts: arabic, want: []int{0, 5}},
		{name: "search-with-article, and the", query: "كتاب", want: []int{2}},
		{name: "search-with-article, with the", query: "سيارة", want: []int{3}},
		{name: "search-with-article, for the, with vowels", query: "مدرسة", want: []int{4}},
		{name: "search-with-article, question with vowels", query: "مُسْتَشْفَى", want: []int{0}},
		{name: "search-with-article, other alef", query: "الاحد", want: []int{1}},
		{name: "search-with-article, and for", query: "وللمدرسة", want: []int{4}},
		{name: "search-with-article, a letter written on", query: "لطبيب", want: []int{0, 5}},
		{name: "search-with-article, stretched", query: "كتـــاب", want: []int{2}},
		{name: "search-with-article, no other word", query: "باب", want: []int{4}},
		{name: "search-with-article, Hebrew", query: "רופא", texts: hebrew, want: []int{0}},
		{name: "search-with-article, Hebrew, asked with it", query: "הרופא", want: []int{0}},
		{name: "search-with-article, Hebrew, in", query: "בית", want: []int{1}},
		{name: "search-with-article, Hebrew, to", query: "גן", want: []int{2}},
		{name: "search-with-article, Hebrew, without points", query: "שלום", want: []int{3}},
		{name: "search-with-article, Hebrew, with points", query: "רוֹפֵא", want: []int{0}},
		{name: "search-with-article, Hebrew, and that the", query: "מכונית", want: []int{4}},
		{name: "search-with-article, Hebrew, from the", query: "בנק", want: []int{5}},
		{name: "search-with-article, Hebrew, other letter written on", query: "לרופא", want: []int{0}},
	})
}

func TestSearchFindsWordsOfOtherScripts(t *testing.T) {
	accents := []string{"le café de l'hôpital", "ημερομηνία της γιορτής", "İstanbul'da ısıtma kapalı", "ещё одна ёлка", "мой ключ у Андре́я", "Straße nach Köln", "crème brûlée à Noël", "hẹn bác sĩ ở Đà Nẵng", "donau\u00addampfschiff fährt"}
	others := []string{"ยาอยู่ในตู้เย็น", "น้ำอยู่ในขวด", "दवा सुबह आठ बजे लेनी है", "दावत शनिवार को है", "학교에서 회의가 있다", "약은 냉장고에 있다", "我的钥匙在门口", "鍵は玄関の箱の中", "மருந்து காலை எட்டு மணிக்கு"}
	testSearches(t, []search{
		{name: "accents, French", query: "cafe hopital", texts: accents, want: []int{0}},
		{name: "accents, Greek", query: "ημερομηνια", want: []int{1}},
		{name: "accents, Greek capitals", query: "ΓΙΟΡΤΗΣ", want: []int{1}},
		{name: "accents, Turkish without", query: "isitma", want: []int{2}},
		{name: "accents, Turkish capitals", query: "ISITMA", want: []int{2}},
		{name: "accents, Turkish city", query: "istanbul", want: []int{2}},
		{name: "accents, Russian yo", query: "елка", want: []int{3}},
		{name: "accents, Russian stress", query: "Андрея", want: []int{4}},
		{name: "accents, German", query: "strasse koeln", want: []int{5}},
		{name: "accents, decomposed", query: "bru\u0302le\u0301e", want: []int{6}},
		{name: "accents, Vietnamese", query: "bac si nang", want: []int{7}},
		{name: "accents, soft hyphen", query: "Donaudampfschiff", want: []int{8}},
		{name: "scripts, Thai", query: "ตู้เย็น", texts: others, want: []int{0}, first: true},
		{name: "scripts, Thai, other word", query: "น้ำ", want: []int{1}},
		{name: "scripts, Thai, medicine", query: "ยา", want: []int{0}},
		{name: "scripts, Hindi", query: "दवा", want: []int{2}},
		{name: "scripts, Hindi, vowels count", query: "दावत", want: []int{3}},
		{name: "scripts, Korean with a particle", query: "학교를", want: []int{4}},
		{name: "scripts, Korean", query: "학교", want: []int{4}},
		{name: "scripts, Korean, one syllable", query: "약", want: []int{5}},
		{name: "scripts, Chinese, one character", query: "门", want: []int{6}},
		{name: "scripts, Japanese", query: "玄関", want: []int{7}},
		{name: "scripts, Tamil", query: "மருந்து", want: []int{8}},
	})
}

// TestSearchFindsWhatOthersMissed are bug reports of other programs.
func TestSearchFindsWhatOthersMissed(t *testing.T) {
	marks := []string{"🔘 call Ben", "⭕ water the plants", "🔵 buy stamps", "🔶 sell the bike", "my to-do list for May", "#sample of the day", "a sample of cheese", "earned $20 today"}
	arabic := []string{"كَتَبَ الولد", "كُتِبٌ كثيرة", "أكل التفاح", "لا علاقة له"}
	persian := []string{"رابطهٔ خوب", "کتاب\u200cها روی میز", "ساعت ۱۲:۳۰", "متن دیگر"}
	phones := []string{"Ben 0176 12345678", "Cara 0176-123 456 79", "Dan 0176 123-45670", "Eva 04\u00a09999\u00a01111", "Finn (074) 350 2341", "room 12"}
	others := []string{"чай мʼята та мед", "O’Neil has the keys", "设置静默模式", "caffè con Anna", "テストの日程", "un résumé naïf"}
	odd := []string{"meeting at 3pm", "the iPhone 15 box", "10 000 Kč for the roof", "25\u202f000 steps", "½ cup of sugar", "la col·lecció", "ticket a1b2c3"}
	testSearches(t, []search{
		{name: "search-for-a-sign, field, circle", query: "🔘", texts: marks, want: []int{0}},
		{name: "search-for-a-sign, field, red circle", query: "⭕", want: []int{1}},
		{name: "search-for-a-sign, field, blue circle", query: "🔵", want: []int{2}},
		{name: "search-for-a-sign, field, diamond", query: "🔶", want: []int{3}},
		{name: "search-for-a-sign, field, hyphen", query: "to-do", want: []int{4}},
		{name: "search-for-a-sign, field, tag before the word", query: "#sample", want: []int{5}, first: true},
		{name: "search-for-a-sign, field, dollar", query: "$", want: []int{7}},
		{name: "search-with-article, field, without vowel points", query: "كتب", texts: arabic, want: []int{0, 1}},
		{name: "search-with-article, field, alef", query: "اكل", want: []int{2}},
		{name: "search-with-article, field, alef with madda", query: "آكل", want: []int{2}},
		{name: "search-with-article, field, Persian hamza", query: "رابطه", texts: persian, want: []int{0}},
		{name: "search-with-article, field, Persian with a hidden break", query: "کتاب", want: []int{1}},
		{name: "search-with-article, field, Arabic letters for Persian ones", query: "كتاب", want: []int{1}},
		{name: "search-with-article, field, Persian digits", query: "12:30", want: []int{2}},
		{name: "search-for-a-sign, field, phone", query: "017612345678", texts: phones, want: []int{0}},
		{name: "search-for-a-sign, field, phone with hyphen", query: "017612345679", want: []int{1}},
		{name: "search-for-a-sign, field, phone in groups", query: "0176 12345670", want: []int{2}},
		{name: "search-for-a-sign, field, phone with hard spaces", query: "0499991111", want: []int{3}},
		{name: "search-for-a-sign, field, phone with brackets", query: "0743502341", want: []int{4}},
		{name: "accents, field, apostrophe", query: "м'ята", texts: others, want: []int{0}},
		{name: "accents, field, other apostrophe", query: "м’ята", want: []int{0}},
		{name: "accents, field, name", query: "O'Neil", want: []int{1}},
		{name: "accents, field, name without", query: "ONeil", want: []int{1}},
		{name: "search-for-a-sign, thousands with a space", query: "10000", texts: odd, want: []int{2}},
		{name: "search-for-a-sign, thousands with a hard space", query: "25000", want: []int{3}},
		{name: "search-for-a-sign, fraction", query: "½", want: []int{4}},
		{name: "search-for-a-sign, fraction in digits", query: "1/2", want: []int{4}},
		{name: "accents, middle dot", query: "colleccio", want: []int{5}},
		{name: "search-for-a-sign, ids stay whole", query: "a1b2c3", want: []int{6}},
		{name: "scripts, field, Chinese", texts: others, query: "静默", want: []int{2}},
		{name: "accents, field, caffè", query: "caffe", want: []int{3}},
		{name: "scripts, field, Japanese", query: "テスト", want: []int{4}},
		{name: "accents, field, two words", query: "resume naif", want: []int{5}},
	})
}

// TestSearchOfOddInputs: nothing fails, and nothing that is not there is found.
func TestSearchOfOddInputs(t *testing.T) {
	s := openStore(t)
	for _, text := range []string{"", "\u200d", "\ufe0f\u20e3", "\U0001f1e9", "🏽", "+", "+++", "C+", "....", "v", "v1", "1.", ".1", "-1-", "1,,2", "0/0/0000", "99/99/2026", "(((", "@", "#", "@@a", "a@", "&", "a&", "&a&b&c", "ه", "ال", "ו", "הה", "ש", "ًٌٍ", "\xff\xfe", "\ue000", "tel", "*", `"`, "a\u0301\u0301\u0301", "ก", "์", "मि", "ッ"} {
		save(t, s, store.Memory{Content: "note " + text + " end", Source: text})
		for _, q := range []string{text, text + text, text + " " + text, text + "x"} {
			if _, err := newMemory(s, nil).Search(t.Context(), memory.Query{Text: q}); err != nil {
				t.Errorf("%q: %v", q, err)
			}
		}
	}
	for _, long := range []string{"🔴", "1.", "a-", "ה", "و", "#", "12 ", "ก", "A&"} {
		text := strings.Repeat(long, 4000)
		save(t, s, store.Memory{Content: text, Source: "long"})
		if _, err := newMemory(s, nil).Search(t.Context(), memory.Query{Text: text}); err != nil {
			t.Errorf("%d times %q: %v", 4000, long, err)
		}
	}
}
