package control

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var blank = regexp.MustCompile(`%[a-z]`)

func TestTextsAreCompleteInBothLanguages(t *testing.T) {
	if written := rows(textsFile); len(written) != len(Texts) || slices.ContainsFunc(written, func(r []string) bool { return len(r) != 3 }) {
		t.Errorf("%d lines make %d texts; each is key | English | Russian", len(written), len(Texts))
	}
	for key, both := range Texts {
		if strings.TrimSpace(both[0]) == "" || strings.TrimSpace(both[1]) == "" {
			t.Errorf("%s is missing in a language: %q", key, both)
		}
		if en, ru := blank.FindAllString(both[0], -1), blank.FindAllString(both[1], -1); !slices.Equal(en, ru) {
			t.Errorf("%s has the blanks %v in English and %v in Russian", key, en, ru)
		}
	}
	for _, key := range []string{
		"mark.ok", "mark.off", "mark.limited", "mark.broken", "verdict.allow", "verdict.ask", "verdict.deny", "level.info", "level.warn", "level.error",
		"job.on", "job.paused", "job.done", "run.claimed", "run.running", "run.retry", "run.done", "run.silent", "run.failed", "run.missed", "run.skipped",
		"run.stopped", "run.lost", "core.user", "core.agent", "core.people", "core.chats", "role.tool", "role.system",
	} {
		if !known(key) {
			t.Errorf("there is no text %s", key)
		}
	}
}

func TestTimesAndNumbersAreForPeople(t *testing.T) {
	now := time.Now()
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, time.Local)
	for got, want := range map[string]string{
		When("en", time.Time{}): "–", When("en", noon): "today 12:00", When("ru", noon.AddDate(0, 0, 1)): "завтра 12:00",
		When("en", noon.AddDate(0, 0, -1)): "yesterday 12:00", When("en", time.Date(2020, 1, 2, 3, 4, 0, 0, time.Local)): "2020-01-02 03:04",
		took("en", 90*time.Second): "1 min", took("ru", 3*time.Hour): "3 ч", took("en", 800*time.Millisecond): "800 ms", took("en", 72*time.Hour): "3 days",
		usd(0.0001): "$0.0001", usd(12): "$12.00", number(999): "999", number(1234567): "1\u202f234\u202f567", number(1234): "1234",
		brief("One. Two."): "One.", brief("one"): "one", brief(strings.Repeat("ä", 200)): strings.Repeat("ä", mostBrief) + "…",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestTextsOfTheEngineInRussian takes texts as the engine and the configuration write them.
func TestTextsOfTheEngineInRussian(t *testing.T) {
	for english, want := range map[string]string{
		"off":                                   "выключено",
		"@klaw_bot":                             "@klaw_bot",
		"no network; I keep trying":             "нет сети; пробую снова",
		"check the connection; klawbot doctor":  "проверьте соединение; klawbot doctor",
		"telegram_1, telegram_2, and 3 more":    "telegram_1, telegram_2 и ещё 3",
		"/data cannot be written (read-only)":   "/data: нельзя писать (read-only)",
		"no: qwen3:8b has no vision":            "нет: qwen3:8b не видит картинок",
		"office; no PDF: install poppler-utils": "офисные файлы; PDF нет: установите poppler-utils",
		"office; no PDF: klawbot assets pull --documents; no OCR: install tesseract-ocr":               "офисные файлы; PDF нет: klawbot assets pull --documents; OCR нет: установите tesseract-ocr",
		"keyword search only (no embedding model: the ONNX Runtime library x.so: file does not exist)": "только поиск по словам (нет модели для поиска по смыслу: библиотека ONNX Runtime x.so: файла нет)",
		"off (no code_execute); commands run as the bot does; order: docker (not here), bwrap":         "выключено (нет code_execute); команды работают с правами бота; порядок: docker (здесь нет), bwrap",
		`context.compactAt must be a number, got "nine"`:                                               `context.compactAt: ожидается число, а не "nine"`,
		`context.window must be 1 to 1000, got 0`:                                                      `context.window: ожидается от 1 до 1000, а не 0`,
		`agent.timezone must be a time zone such as Europe/Berlin or UTC, got "Berln"`:                 `agent.timezone: ожидается часовой пояс, например Europe/Berlin или UTC, а не "Berln"`,
		`models.default must be one of models.entries (a, b), got "c"`:                                 `models.default: ожидается одно из models.entries (a, b), а не "c"`,
		"Tool is in deny list": "Инструмент в списке запрещённых", `Tool group "web" is denied`: `Группа инструментов "web" запрещена`,
		"Command blocked: it deletes everything; no approval allows it": "Команда запрещена: она удаляет всё; её нельзя разрешить",
		"schedule 'bins' is running already":                            "задание 'bins' уже выполняется",
		"%s must be %s, got %s":                                         "%s: ожидается %s, а не %s",
		"something that nobody has translated, or":                      "something that nobody has translated, or",
		"": "",
	} {
		if got := russian(english); got != want {
			t.Errorf("%q is %q, want %q", english, got, want)
		}
	}
	for _, p := range phrases() {
		if len(p) != 2 {
			t.Fatalf("a phrase in %d parts: %q", len(p), p)
		}
		if strings.Count(p[0], "%s") != strings.Count(p[1], "%s") || p[0] == "" || p[1] == "" {
			t.Errorf("the blanks of %q differ", p)
		}
	}
}
