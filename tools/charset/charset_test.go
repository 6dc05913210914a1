package charset

import (
	"strings"
	"testing"
	"unicode/utf8"

	xcharset "golang.org/x/net/html/charset"
)

func encoded(t testing.TB, name, text string) []byte {
	t.Helper()
	e, _ := xcharset.Lookup(name)
	if e == nil {
		t.Fatalf("no encoding %s", name)
	}
	bytes, err := e.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return bytes
}

// samples are sentences and words in many languages.
var samples = []struct{ encoding, text string }{
	{"windows-1251", "Новости дня: сегодня в Москве ожидается снег, а завтра потеплеет."},
	{"windows-1251", "Привет, мир"},
	{"windows-1251", "Прогноз погоди на завтра: у Києві очікується дощ, вночі можливий туман."},
	{"windows-1251", "Времето утре ще бъде слънчево, но вечерта се очаква дъжд в София."},
	{"koi8-r", "Новости дня: сегодня в Москве ожидается снег, а завтра потеплеет."},
	{"koi8-u", "Прогноз погоди на завтра: у Києві очікується дощ, вночі можливий туман."},
	{"ibm866", "Новости дня: сегодня в Москве ожидается снег, а завтра потеплеет."},
	{"iso-8859-5", "Новости дня: сегодня в Москве ожидается снег, а завтра потеплеет."},
	{"windows-1252", "Über die Straße läuft am Morgen ein Mädchen und grüßt die Bäckerin."},
	{"windows-1252", "L'été dernier, la fenêtre était déjà fermée à l'heure où ça a commencé."},
	{"windows-1252", "El niño comió mañana en la montaña; ¿qué pasó después?"},
	{"windows-1252", "Smørrebrød på bordet, så må vi få øl og kaffe på en blå dag."},
	{"windows-1252", "café"},
	{"iso-8859-2", "Wczoraj wieczorem w Łodzi spadł śnieg, a jutro będzie już ciepło i słonecznie."},
	{"windows-1250", "Wczoraj wieczorem w Łodzi spadł śnieg, a jutro będzie już ciepło i słonecznie."},
	{"iso-8859-2", "Včera večer v Praze napadl sníh, ale zítra už bude teplo a slunečno, říkají předpovědi."},
	{"windows-1250", "Včera večer v Praze napadl sníh, ale zítra už bude teplo, říkají předpovědi žáků."},
	{"iso-8859-2", "Tegnap este Budapesten hó esett, de holnap már meleg lesz és süt a nap, mondják az időjósok."},
	{"shift_jis", "今日のニュース：東京では明日の朝から雪が降る見込みです。"},
	{"euc-jp", "今日のニュース：東京では明日の朝から雪が降る見込みです。"},
	{"iso-2022-jp", "今日のニュース：東京では明日の朝から雪が降る見込みです。"},
	{"euc-kr", "오늘의 뉴스: 내일 아침 서울에는 눈이 내릴 것으로 보입니다."},
	{"gb18030", "今日新闻：明天早上北京将会下雪，气温下降到零下五度。"},
	{"big5", "今日新聞：明天早上台北將會下雨，氣溫下降到十五度。"},
	{"windows-1253", "Οι ειδήσεις της ημέρας: αύριο το πρωί θα βρέξει στην Αθήνα και θα κάνει κρύο."},
	{"iso-8859-7", "Οι ειδήσεις της ημέρας: αύριο το πρωί θα βρέξει στην Αθήνα και θα κάνει κρύο."},
	{"windows-1255", "חדשות היום: מחר בבוקר צפוי לרדת גשם בירושלים ויהיה קר מאוד."},
	{"windows-1256", "أخبار اليوم: من المتوقع أن يهطل المطر غدا صباحا في القاهرة وسيكون الجو باردا."},
	{"windows-1254", "Günün haberleri: yarın sabah İstanbul'da kar yağışı bekleniyor, hava çok soğuk olacak."},
	{"windows-874", "ข่าววันนี้: พรุ่งนี้เช้าคาดว่าจะมีฝนตกในกรุงเทพและอากาศจะเย็นลง"},
	{"windows-1251", "Новости"},
	{"windows-1251", "СКИДКИ ДО 50% ТОЛЬКО СЕГОДНЯ"},
	{"windows-1251", "список\nмолоко\nхлеб\n"},
	{"windows-1251", "купить масло"},
	{"koi8-r", "список\nмолоко\nхлеб\n"},
	{"koi8-r", "Привет, мир"},
	{"koi8-r", "ВНИМАНИЕ! Сайт закрыт."},
	{"ibm866", "Договор аренды квартиры"},
	{"windows-1252", "Größe: 10 €, „schön“ – Straße"},
	{"windows-1252", "naïve façade, coöperate"},
	{"windows-1252", "Málaga, año 2026, corazón, ¡olé!"},
	{"windows-1252", "São Paulo: informações, coração e pão"},
	{"windows-1252", "perché la città è così più bella"},
	{"windows-1252", "Þetta er íslenska og það er ágætt"},
	{"windows-1252", "temperature 20° ± 0.5, © 2026, price £5"},
	{"windows-1252", "“smart quotes” – it’s"},
	{"windows-1252", "Temperatur: 21 °C"},
	{"windows-1252", "21°C"},
	{"windows-1252", "45 m² for 300 £"},
	{"windows-1252", "It costs 5 € today"},
	{"windows-1252", "½ cup sugar"},
	{"windows-1252", "50 µm"},
	{"windows-1252", "N° 5"},
	{"windows-1252", "1º andar, 2ª porta"},
	{"iso-8859-2", "Zażółć gęślą jaźń"},
	{"iso-8859-2", "Príliš žltučký kôň úpel ďábelské ódy"},
	{"windows-1250", "Žluťoučký kůň"},
	{"iso-8859-2", "árvíztűrő tükörfúrógép"},
	{"iso-8859-2", "Čaša vode, žena i dječak šeću"},
	{"shift_jis", "こんにちは"},
	{"shift_jis", "ｶﾀｶﾅ半角テスト、天気予報"},
	{"euc-jp", "東京都の天気"},
	{"euc-kr", "안녕하세요"},
	{"gb18030", "你好，世界"},
	{"gb18030", "中国人民银行今天公布了新的利率"},
	{"big5", "你好，世界"},
	{"big5", "臺灣大學圖書館開放時間"},
	{"windows-1253", "Καλημέρα κόσμε"},
	{"windows-1255", "רשימת קניות: חלב, לחם, ביצים"},
	{"windows-1251", "корм коту"},
	{"windows-1251", "да"},
	{"windows-1251", "Да!"},
	{"windows-1251", "чай, суп, хлеб"},
	{"windows-1251", "вода 5 л"},
	{"windows-1251", "ещё"},
	{"windows-1251", "Папа"},
	{"windows-1255", "שלום"},
	{"windows-1253", "και"},
	{"euc-kr", "네"},
	{"windows-1251", "Молоко 2 л, хлеб, сыр 300 г"},
	{"windows-1251", "Ёлка и ёжик"},
	{"koi8-r", "Молоко 2 л, хлеб, сыр 300 г"},
	{"windows-1255", "שלום עולם"},
	{"windows-1256", "مرحبا بالعالم"},
	{"windows-1254", "Şişli'de çay içtik, güneş ısıttı"},
	{"windows-1257", "Ąžuolas žaliuoja, šviečia saulė"},
	{"windows-1257", "Šodienas ziņas: rīt no rīta Rīgā gaidāms sniegs, un būs ļoti auksts laiks."},
}

func TestGuess(t *testing.T) {
	for _, s := range samples {
		for kind, wrap := range map[string][2]string{"plain": {"", ""}, "page": {"<html><head><title>x</title></head><body><p class=\"first\">", "</p><script>var a = 1;</script></body></html>"}} {
			got := Decode(encoded(t, s.encoding, wrap[0]+s.text+wrap[1]), "text/html", false)
			if got.Body != wrap[0]+s.text+wrap[1] || got.Note == "" {
				t.Errorf("%s, %s: %q, %q", s.encoding, kind, got.Body, got.Note)
			}
		}
	}
}

func TestDeclarations(t *testing.T) {
	const news, page = "Новости дня", "<html><head>%s</head><p>Новости дня</p></html>"
	cyrillic := func(text string) string { return string(encoded(t, "windows-1251", text)) }
	in := func(head string) string { return cyrillic(strings.Replace(page, "%s", head, 1)) }
	padding := "<script>" + strings.Repeat("var a = 1; ", 200_000/11) + "</script>"
	for name, c := range map[string]struct{ contentType, body, want, note string }{
		"feed-declares-windows-1251":        {"application/rss+xml", cyrillic(`<?xml version="1.0" encoding="windows-1251"?><title>` + news + `</title>`), news, ""},
		"single quotes":                     {"text/xml", cyrillic(`<?xml version='1.0' encoding='Windows-1251' standalone='yes'?><t>` + news + `</t>`), news, ""},
		"an Atom feed as text/html":         {"text/html", cyrillic("\n<?xml version=\"1.0\" encoding = \"cp1251\"?><feed>" + news + "</feed>"), news, ""},
		"the header goes before XML":        {"text/xml; charset=windows-1251", cyrillic(`<?xml version="1.0" encoding="koi8-r"?><t>` + news + `</t>`), news, ""},
		"XML that says UTF-16 in ASCII":     {"text/xml", `<?xml version="1.0" encoding="UTF-16"?><t>` + news + `</t>`, news, ""},
		"XML without a declaration":         {"text/xml", "<t>" + news + "</t>", news, ""},
		"meta-after-1500-bytes":             {"text/html", in("<script>" + strings.Repeat("x", 1500) + "</script><meta charset=windows-1251>"), news, ""},
		"meta after 200 kB":                 {"text/html", in(padding + `<META CHARSET="windows-1251">`), news, ""},
		"meta http-equiv":                   {"text/html", in(`<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">`), news, ""},
		"meta http-equiv, turned around":    {"text/html", in(`<meta content='text/html;charset=windows-1251' http-equiv='content-type'/>`), news, ""},
		"meta in a comment and in a script": {"text/html", in(`<!-- <meta charset="koi8-r"> --><script>"<meta charset=koi8-r>"</script><meta charset="windows-1251">`), news, ""},
		"a description of charset":          {"text/html", in(`<meta name="description" content="charset=koi8-r"><meta charset="windows-1251">`), news, ""},
		"meta that says UTF-16":             {"text/html", `<meta charset="utf-16"><p>` + news, news, ""},
		"an unknown meta":                   {"text/html", in(`<meta charset="klingon">`), news, "not declared"},
		"the header goes before meta":       {"text/html; charset=windows-1251", in(`<meta charset="koi8-r">`), news, ""},
		"a mark goes before the header":     {"text/html; charset=windows-1251", "\ufeff" + news, news, ""},
		"page-without-charset":              {"text/html", in(""), news, "not declared; read as windows-1251, which is a guess"},
		"plain text without a charset":      {"text/plain", cyrillic("Сегодня в Москве снег"), "Сегодня в Москве снег", "not declared; read as windows-1251, which is a guess"},
		"no header at all":                  {"", news, news, ""},
		"declared as UTF-8, and is not":     {"text/html; charset=utf-8", in(""), news, "declared as utf-8, which it is not; read as windows-1251"},
		"the same, but meta knows":          {"text/html; charset=utf-8", in("<meta charset=windows-1251>"), news, ""},
		"meta says UTF-8, and is not":       {"text/html", in("<meta charset=utf-8>"), news, "declared as utf-8, which it is not"},
		"UTF-8 with one error":              {"text/html; charset=utf-8", news + "\xff", news + "\ufffd", ""},
		"UTF-8 with one error, undeclared":  {"text/html", news + "\xff", news + "\ufffd", ""},
		"Latin-1 that is UTF-8":             {"text/html; charset=ISO-8859-1", "Müller", "Müller", "read as utf-8"},
		"windows-1251 that is UTF-8":        {"text/html; charset=windows-1251", news, news, "declared as windows-1251, read as utf-8"},
		"meta of a page that was converted": {"text/html", "<meta charset=gb2312><p>你好，世界", "你好，世界", "declared as gb18030, read as utf-8"},
		"Shift_JIS that is UTF-8":           {"text/html; charset=shift_jis", "今日のニュース", "今日のニュース", "read as utf-8"},
		"UTF-16 that is ASCII":              {"text/html; charset=utf-16", "<p>tea", "<p>tea", "read as utf-8"},
		"Latin-1":                           {"text/html; charset=ISO-8859-1", "M\xfcller", "Müller", ""},
		"ASCII as Latin-1":                  {"text/html; charset=ISO-8859-1", "Miller", "Miller", ""},
		"quotes":                            {`text/html; charset="windows-1251"`, in(""), news, ""},
		"single quotes in the header":       {"text/html; charset='windows-1251'", in(""), news, ""},
		"an alias":                          {"text/html;charset=cp1251", in(""), news, ""},
		"an alias of no standard":           {"text/html; Charset = WIN-1251 ; x=y", in(""), news, ""},
		"two charsets":                      {"text/html; charset=windows-1251; charset=utf-8", in(""), news, ""},
		"utf8":                              {"text/html; charset=utf8", news, news, ""},
		"an unknown charset":                {"text/html; charset=none", in(""), news, "not declared"},
		"JSON with a mark":                  {"application/json", "\ufeff{\"a\": 1}", `{"a": 1}`, ""},
		"JSON in windows-1251":              {"application/json", cyrillic(`{"title": "Новости дня сегодня"}`), "Новости дня сегодня", "not declared"},
		"UTF-16 with a mark":                {"text/html", "\xff\xfe" + string(encoded(t, "utf-16le", news)), news, ""},
		"UTF-16 XML without a mark":         {"text/xml", string(encoded(t, "utf-16le", "<t>"+news)), news, ""},
		"UTF-16 by its header":              {"text/plain; charset=utf-16be", string(encoded(t, "utf-16be", news)), news, ""},
		"gb2312 with a character of GBK":    {"text/html; charset=gb2312", string(encoded(t, "gb18030", "朱镕基 €")), "朱镕基 €", ""},
		"a label of Korean":                 {"text/html; charset=ks_c_5601-1987", string(encoded(t, "euc-kr", "똠방각하")), "똠방각하", ""},
		"a label of Windows for Japanese":   {"text/html; charset=MS932", string(encoded(t, "shift_jis", "①髙")), "①", ""},
		"a meta in a title":                 {"text/html", cyrillic("<title>Трамваи Тулы <meta charset=windows-1251></title>"), "Трамваи Тулы", "windows-1251, which is a guess"},
		"text/xml is not ASCII":             {"text/xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><t>caf\xe9</t>", "café", ""},
		"a meta with http-equiv, Latin-1":   {"text/html", "<meta http-equiv=content-type content=text/html;charset=iso-8859-1>f\xfcr", "für", ""},
		"nothing":                           {"text/html", "", "", ""},
	} {
		got := Decode([]byte(c.body), c.contentType, false)
		if !strings.Contains(got.Body, c.want) || !strings.Contains(got.Note, c.note) || (c.note == "") != (got.Note == "") || strings.HasPrefix(got.Body, "\ufeff") {
			t.Errorf("%s: %q, %q", name, got.Body[max(0, len(got.Body)-200):], got.Note)
		}
	}
}

// TestCutWithinACharacter: what is read of a long page ends anywhere.
func TestCutWithinACharacter(t *testing.T) {
	const text = "Новости дня: снег и 雪 и 🥛"
	for n := range len(text) {
		got := Decode([]byte(text[:n]), "text/html", true)
		if got.Note != "" || !strings.HasPrefix(text, strings.TrimRight(strings.ToValidUTF8(got.Body, ""), "\ufffd")) {
			t.Errorf("%d bytes: %q, %q", n, got.Body, got.Note)
		}
	}
}

// FuzzDecode: any bytes with any header make valid text.
func FuzzDecode(f *testing.F) {
	for _, s := range samples {
		f.Add(encoded(f, s.encoding, s.text), "text/html")
	}
	f.Add([]byte("<?xml version='1.0' encoding='utf-16'?><meta charset=koi8-r>\xff"), "text/xml; charset=\"utf-8")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if got := Decode(body, contentType, true); !utf8.ValidString(got.Body) {
			t.Errorf("%q as %q is %q", body, contentType, got.Body)
		}
	})
}
