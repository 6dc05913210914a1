package web

import (
	"fmt"
	"maps"

	"klawbot/gateway/web/control"
)

// texts are sentences by key, in English and Russian.
type texts map[string][2]string

// all are the texts of all pages; each file has its own.
var allTexts = join(commonTexts, chatTexts, control.Texts)

func join(parts ...texts) texts {
	all := texts{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

// say is a text in a language; a key that is unknown is shown as it is.
func say(lang, key string, args ...any) string {
	both, ok := allTexts[key]
	if !ok {
		return key
	}
	text := both[0]
	if lang == "ru" {
		text = both[1]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

var commonTexts = texts{
	"skip":            {"Skip to content", "К содержанию"},
	"nav":             {"Pages", "Страницы"},
	"nav.chat":        {"Chat", "Чат"},
	"nav.status":      {"Status", "Состояние"},
	"nav.talks":       {"Talks", "Беседы"},
	"nav.schedules":   {"Schedules", "Расписания"},
	"nav.memory":      {"Memory", "Память"},
	"nav.more":        {"More", "Ещё"},
	"nav.approvals":   {"Approvals", "Разрешения"},
	"nav.people":      {"People", "Люди"},
	"nav.models":      {"Models", "Модели"},
	"nav.tools":       {"Tools", "Инструменты"},
	"nav.settings":    {"Settings", "Настройки"},
	"nav.logs":        {"Logs", "Журнал"},
	"nav.browsers":    {"Browsers", "Браузеры"},
	"nav.language":    {"Language", "Язык"},
	"in.title":        {"Sign in", "Вход"},
	"in.text":         {"This signs this browser in. The link works once.", "Этот браузер получит доступ. Ссылка действует один раз."},
	"in.open":         {"Open klawbot", "Открыть klawbot"},
	"in.old":          {"This link was used or is too old. → klawbot web", "Ссылка уже использована или устарела. → klawbot web"},
	"in.many":         {"Too many wrong links. Wait a minute, then → klawbot web", "Слишком много неверных ссылок. Подождите минуту, затем → klawbot web"},
	"out":             {"Sign out", "Выйти"},
	"out.done":        {"Signed out. To sign in again → klawbot web", "Вы вышли. Чтобы войти снова → klawbot web"},
	"error.title":     {"Not available", "Недоступно"},
	"error.out":       {"You aren't signed in. → klawbot web", "Вы не вошли. → klawbot web"},
	"error.again":     {"Try again", "Ещё раз"},
	"error.chat":      {"Go to the chat", "В чат"},
	"error.none":      {"There is no such page.", "Такой страницы нет."},
	"error.long":      {"That is too large.", "Это слишком много."},
	"error.bad":       {"This form isn't valid. Load the page again.", "Форма неверна. Загрузите страницу заново."},
	"error.origin":    {"This request came from another site. Nothing was changed.", "Запрос пришёл с другого сайта. Ничего не изменено."},
	"error.starting":  {"The bot is starting. Try again in a moment.", "Бот запускается. Повторите через мгновение."},
	"error.internal":  {"Something went wrong. The log says what.", "Что-то пошло не так. Подробности в журнале."},
	"browsers.title":  {"Browsers", "Браузеры"},
	"browsers.text":   {"Each signed-in browser can do what you can do.", "Каждый вошедший браузер может всё, что можете вы."},
	"browsers.this":   {"this browser", "этот браузер"},
	"browsers.since":  {"Signed in", "Вход"},
	"browsers.seen":   {"Last seen", "Последний визит"},
	"browsers.end":    {"Sign out", "Завершить"},
	"browsers.name":   {"Browser", "Браузер"},
	"browsers.action": {"Action", "Действие"},
}
