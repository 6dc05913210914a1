package engine

import (
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
)

// phrase names one of the bot's own sentences.
type phrase int

// The bot's own sentences. Both catalogues below hold every one of them; a
// test fails when one does not.
const (
	sayGreeting phrase = iota
	sayHelpHead
	sayUnknownCommand
	sayNewSession
	sayModelIs
	sayModelSet
	sayModelUnknown
	sayModelsHead
	sayModelsNone
	sayStopped
	sayStoppedDropped
	sayNothingRuns
	sayBackground
	sayCut
	sayNoAnswer
	sayUndeliverable
	sayFileNotSent
	sayFileInDoubt
	sayQueue
	sayExpired
	sayOwnersOnly
	sayNoModelLabel
	sayNoModel
	sayNoModelHere
	sayButtonFirst
	sayAnswerFirst
	saySeconds
	sayMinutes
	sayHours
	sayDays
	sayToolUsage
	sayNoteUsage
	sayNoteDone
	sayMemoryUsage
	sayMemoryEmpty
	sayExported
	sayLimitNote
	sayInterrupted
	saySecretLost
	sayUnreadable
	sayUnheard
	sayChatLost
	sayErrBusy
	sayErrUnreachable
	sayErrStall
	sayErrQuota
	sayErrAuth
	sayErrTooLong
	sayErrRefused
	sayErrModel
	sayErrRequest
	sayErrInternal
	sayStatus
	sayAnsweredBy
	sayNoTools
	sayNoSchema
	sayInputCut
	sayLoading
	sayBudgetTokens
	sayBudgetUSD
	sayUsage
	sayUsageEstimated
	sayUsagePartly
	cmdNew
	cmdModel
	cmdModels
	cmdStatus
	cmdStop
	cmdHelp
	cmdTool
	cmdFiles
	cmdNote
	cmdMemory
	cmdExport
	cmdDoctor
	cmdSkills
	cmdDocs
	sayPrivately
	sayPolled
	sayOldest
	sayStorage
	sayUnstored
	sayRecovered
	sayRebuilt
	sayDamaged
	sayDamagedBackup
	sayDamagedAlone
	sayAtLeast
	sayLost
	sayLoopHint
	sayLoopNote
	sayApprove
	sayDangerous
	sayApproveUntil
	sayApproveWords
	sayButtonOnce
	sayButtonHour
	sayButtonNo
	sayApproveOnceWords
	sayOtherFiles
	sayManyFiles
	sayAskedPrivately
	sayAskedIn
	sayAskedByNobody
	sayAskedBySchedule
	sayOwnerAsked
	sayOwnerAskedByRun
	sayOwnerUnreached
	sayOwnerFirst
	sayOwnersDecide
	sayNotYours
	sayOutcomeOnce
	sayOutcomeHour
	sayOutcomeDenied
	sayOutcomeExpired
	sayOutcomeStopped
	sayAsks
	sayAsksStep
	sayAskPage
	sayAskCare
	sayAskPaste
	sayAskWrite
	sayAskGoes
	sayAskUntil
	sayAskWords
	sayAskOwner
	sayAskRefused
	sayWordYes
	sayWordNo
	sayWordSkip
	sayWordKeep
	sayWordAsIs
	sayWordChange
	sayWordOpen
	sayWordOpened
	sayWordDecline
	sayWordCancel
	sayFlawNumber
	sayFlawInteger
	sayFlawOption
	sayFlawShort
	sayFlawLong
	sayFlawSmall
	sayFlawLarge
	sayFlawFew
	sayFlawMany
	sayFlawForm
	sayOutcomeAnswered
	sayOutcomeDeclined
	sayOutcomeCancelled
	sayOutcomeUnanswered
	sayOutcomeEnded
	sayOutcomeLost
	cmdMCP
	sayMCPNone
	sayMCPServer
	sayMCPReady
	sayMCPStarting
	sayMCPDown
	sayMCPUsage
	sayMCPUnknown
	sayMCPAccept
	sayMCPAccepted
	sayMCPOther
	sayMCPNothing
	cmdRemind
	cmdSchedule
	cmdHeartbeat
	sayHeartbeatOff
	sayHeartbeatNoEvery
	sayHeartbeatOn
	sayHeartbeatLogged
	sayHeartbeatQuiet
	sayHeartbeatBudget
	sayHeartbeatSpent
	sayRunSpent
	sayHeartbeatFaults
	sayStoppedSubagents
	saySpawnFailed
	saySpawnLost
	sayLostOld
	sayLostTurn
	sayOnce
	sayRunTooLong
	sayRunNoModel
	sayJobFailed
	sayJobPaused
	sayRemindUsage
	sayRemindOnce
	sayRemindSet
	sayRemindPast
	sayRemindBad
	sayScheduleNone
	sayScheduleHead
	sayScheduleNext
	sayScheduleOff
	sayScheduleMore
	sayScheduleUsage
	sayScheduleGone
	sayScheduleRuns
	sayScheduleOn
	sayScheduleSkipped
	sayScheduleRemoved
	sayScheduleNoRuns
	sayMCPChanged
	sayMCPWantsSignIn
	sayMCPSigningIn
	sayMCPSignedIn
	sayMCPNotSignedIn
	sayMCPNoSignIn
	phraseCount
)

var english = [phraseCount]string{
	cmdRemind:           "remind you: /remind tomorrow at 9 call mom",
	cmdSchedule:         "what is scheduled, with buttons",
	cmdHeartbeat:        "what the bot looks after by itself",
	sayHeartbeatOff:     "The heartbeat is off. Tasks in HEARTBEAT.md of the workspace turn it on.",
	sayHeartbeatNoEvery: "The heartbeat is off: HEARTBEAT.md holds a text without tasks, and heartbeat.every is not set.",
	sayHeartbeatOn:      "What I look after by myself (HEARTBEAT.md):",
	sayHeartbeatLogged:  "only logged",
	sayHeartbeatQuiet:   "Quiet hours: %s–%s, nothing runs then.",
	sayHeartbeatBudget:  "Tokens today: %d of %d.",
	sayHeartbeatSpent:   "The heartbeat's tokens of today are used up.",
	sayRunSpent:         "It has taken %d tokens and may take %d (scheduler.runTokens). Give it less to do at one time, or raise the limit.",
	sayHeartbeatFaults:  "⚠️ HEARTBEAT.md:\n%s",
	sayStoppedSubagents: "Subagents stopped: %d.",
	saySpawnFailed:      "⚠️ The subagent %q failed: %s",
	saySpawnLost:        "⚠️ The subagent %q is lost: %s What it did until then is done; start it again if you still want the rest.",
	sayLostOld:          "it was interrupted more than a day ago.",
	sayLostTurn:         "the bot was interrupted, and how far it had come is not known any more.",
	sayOnce:             "once, %s",
	sayRunTooLong:       "It took too long and was stopped.",
	sayRunNoModel:       "There is no language model that could do it.",
	sayJobFailed:        "⚠️ The schedule %q failed, also when it was tried again: %s\nIt goes on as planned; I say this once. /schedule shows it.",
	sayJobPaused:        "⏸ The schedule %q is paused: %s\nTo switch it on again: /schedule resume %[1]s",
	sayRemindUsage:      "Usage: /remind TIME TEXT, such as: /remind tomorrow at 9 call mom, /remind in 20 minutes tea, /remind on Monday at 10:30 report.",
	sayRemindOnce:       "A reminder comes once. For what comes again and again ask me in words, or at the bot's terminal: klawbot schedule add NAME \"0 9 * * *\" TEXT --inject-into %s",
	sayRemindSet:        "⏰ %s (%s): %s",
	sayRemindPast:       "That time has come already: %s.",
	sayRemindBad:        "I do not understand the time: %s.",
	sayScheduleNone:     "No scheduled tasks. /remind TIME TEXT sets a reminder.",
	sayScheduleHead:     "Scheduled:",
	sayScheduleNext:     "next %s",
	sayScheduleOff:      "paused",
	sayScheduleMore:     "… and %d more.",
	sayScheduleUsage:    "Usage: /schedule, or /schedule run|pause|resume|skip|delete|logs NAME.",
	sayScheduleGone:     "There is no schedule %q here. /schedule lists them.",
	sayScheduleRuns:     "▶ %q runs now.",
	sayScheduleOn:       "%q is on, next %s.",
	sayScheduleSkipped:  "⏭ The next run of %q is skipped; then %s.",
	sayScheduleRemoved:  "🗑 %q is removed.",
	sayScheduleNoRuns:   "%q has not run yet.",

	sayGreeting:          "Hello! Write to me as you would to a person. /help shows what else I can do.",
	sayHelpHead:          "Write to me in plain words, or use:",
	sayUnknownCommand:    "Unknown command: /%s. /help lists the ones there are.",
	sayNewSession:        "New conversation started. Previous context cleared.",
	sayModelIs:           "Current model: %s",
	sayModelSet:          "Switched to model: %s",
	sayModelUnknown:      "Unknown model '%s'. Available: %s",
	sayModelsHead:        "Available models:",
	sayModelsNone:        "No model is set up. Run klawbot init, or set models.entries in config.yaml.",
	sayStopped:           "Stopped.",
	sayStoppedDropped:    "Stopped. Waiting messages dropped: %d.",
	sayNothingRuns:       "Nothing is running.",
	sayBackground:        "In the background this goes on:\n%s\nTo end one:\n%s",
	sayCut:               "⏹ stopped here",
	sayNoAnswer:          "(no answer)",
	sayFileNotSent:       "📄 %s could not be sent. The owner finds details in the log.",
	sayFileInDoubt:       "📄 It is not known whether %s has arrived.",
	sayUndeliverable:     "I have an answer, but it could not be shown here. The owner finds details in the log.",
	sayQueue:             "I am still busy; %d messages wait and will be answered in order. /stop drops them.",
	sayExpired:           "This button has expired.",
	sayOwnersOnly:        "Only an owner of this bot may use /%s (ownerIds in config.yaml).",
	sayNoModelLabel:      "[no model]",
	sayNoModelHere:       "I have no language model yet, so I cannot answer in words. The owner of this bot can set one up.",
	sayAnswerFirst:       "I wait for an answer to the question above; what you write now comes after that. /stop ends the waiting.",
	saySeconds:           "%d s",
	sayMinutes:           "%d min",
	sayHours:             "%d h",
	sayDays:              "%d d",
	sayButtonFirst:       "I wait for one of the buttons above; what you write now comes after that. /stop ends the waiting.",
	sayNoModel:           "I have no language model yet, so I cannot answer in words. What works without one: /remind, /schedule, /files, /note TEXT, /memory search TEXT, /tool NAME JSON, /export, /help. To set up a model: klawbot init.",
	sayToolUsage:         "Usage: /tool NAME {\"argument\": \"value\"}. Tools: %s",
	sayNoteUsage:         "Usage: /note TEXT",
	sayNoteDone:          "Noted in notes.md.",
	sayMemoryUsage:       "Usage: /memory shows what I always know, /memory search TEXT searches what I remember.",
	sayMemoryEmpty:       "The core memory is empty: I know nothing yet that I would keep in mind always.",
	sayExported:          "This conversation is in the workspace as %s.",
	sayLimitNote:         "The limit of tool calls for this answer is reached. Answer now with what you have, and say what is left to do.",
	saySecretLost:        "the bot was restarted before this command ran, and the command held a secret, which is not stored: send it again if you still need it",
	sayInterrupted:       "interrupted by a restart, state unknown: check before you repeat it",
	sayUnreadable:        "I could not read that message.",
	sayUnheard:           "I cannot listen to voice messages yet; please write it to me.",
	sayChatLost:          "The chat %s (%s) cannot be reached any more: %s. What waited for it is dropped. It works again as soon as somebody writes to me there.",
	sayErrBusy:           "The model is overloaded right now. Please try again in a minute.",
	sayErrUnreachable:    "The model cannot be reached right now. Please try again later.",
	sayErrStall:          "The model stopped answering in the middle. Please try again.",
	sayErrQuota:          "The model's quota or budget is used up. The owner has to top it up.",
	sayErrAuth:           "The model's provider does not accept the API key. The owner has to check it (klawbot doctor).",
	sayErrTooLong:        "This conversation is too long for the model. /new starts a fresh one.",
	sayErrRefused:        "The model declined to answer this.",
	sayErrModel:          "The provider does not know the model '%s'. /models lists the others.",
	sayErrRequest:        "The model's provider did not accept the request. The owner finds details in the log.",
	sayErrInternal:       "Something went wrong on my side. Your message is kept; the owner finds details in the log.",
	sayAnsweredBy:        "answered by %s: %s does not work right now",
	sayNoTools:           "the model %s cannot use tools, so it answered without them",
	sayNoSchema:          "the server of the model %s cannot read what these tools take, so it answered without them: %s",
	sayInputCut:          "the server of the model %s left out a part of this conversation: its context window is smaller than contextBudget",
	sayLoading:           "The model is being loaded, please wait …",
	sayBudgetTokens:      "Today's budget for the model is used up (%d of %d tokens). I can answer again after midnight (%s), or when the owner raises models.budget.perDayTokens.",
	sayBudgetUSD:         "Today's budget for the model is used up (%s of %s). I can answer again after midnight (%s), or when the owner raises models.budget.perDayUSD.",
	sayUsage:             "Today: %d model calls, %d tokens in, %d out",
	sayUsageEstimated:    ", about %d more that the provider did not count",
	sayUsagePartly:       ", %s for the calls whose price is known",
	sayStatus:            "Chat: %s\nModel: %s\nConversation since: %s\nUptime: %s\nWaiting: %d in, %d out",
	cmdNew:               "start a new conversation",
	cmdModel:             "show or choose the model",
	cmdModels:            "list the models",
	cmdStatus:            "how the bot is doing",
	cmdStop:              "stop what is running",
	cmdHelp:              "what the bot can do",
	cmdTool:              "call a tool by hand: /tool NAME JSON",
	cmdFiles:             "list the files of the workspace",
	cmdNote:              "write a line into notes.md",
	cmdMemory:            "what I remember: search TEXT",
	cmdExport:            "save this conversation as a file",
	cmdDoctor:            "prove each part of the bot",
	cmdSkills:            "list the skills",
	cmdDocs:              "search the manual: /docs WORDS",
	sayPrivately:         "/%s answers in a private chat only.",
	sayPolled:            "last contact %s ago",
	sayOldest:            "the oldest waits for %s",
	sayStorage:           "Database: %s\nLast backup: %s",
	sayUnstored:          "I cannot store messages right now, so I cannot answer yet. Nothing is lost: I answer as soon as I can.",
	sayRecovered:         "My database was damaged. I use the backup of %s now: what came later is missing. Messages that I took and have not answered: %s. I tell those who wrote them. `klawbot reindex`, while I am stopped, brings back what was said since, from the conversation logs. The log says where the damaged file is.",
	sayRebuilt:           "My database was damaged and there was no good backup, so I have a new one. What it lacks of our conversations, `klawbot reindex` brings back from the conversation logs, while I am stopped. Schedules, reminders, memories and allowances are gone.",
	sayDamaged:           "My database is damaged, so I take no new messages. Telegram keeps them for 24 hours, and I answer them after a restart. Messages that I took and have not answered: %s.",
	sayDamagedBackup:     "Please restart me: stop `klawbot run`, start it again. I then go on with the newest good backup, of %s. To have what was said since too, run `klawbot reindex` before you start me.",
	sayDamagedAlone:      "There is no backup. Please stop me, run `klawbot reindex`, which builds a new database from the conversation logs, and start me again.",
	sayAtLeast:           "at least %d",
	sayLost:              "My database was damaged, and I lost what you wrote before I could answer it (messages: %d). Please send again what is still open.",
	sayLoopHint:          "(You have made this very call %d times and always got this result. Do something else, or answer.)",
	sayLoopNote:          "You repeat the same call without anything new. No more calls for this answer: say what was done so far and what is left to do.",
	sayApprove:           "🔐 May I run `%s`?",
	sayDangerous:         "⚠️ This cannot be undone.",
	sayApproveUntil:      "No answer within %s counts as no.",
	sayApproveWords:      "Answer y (once), a (exactly this call for 1 hour) or n (no).",
	sayButtonOnce:        "✅ Once",
	sayButtonHour:        "🕐 Exactly this for 1 h",
	sayButtonNo:          "❌ No",
	sayApproveOnceWords:  "Answer y (once) or n (no).",
	sayOtherFiles:        "It may run other files that I can't check. I'll ask every time.",
	sayManyFiles:         "It may run other files, too many for me to watch for changes. I'll ask every time.",
	sayAskedPrivately:    "Requested by %s in their private chat.",
	sayAskedIn:           "Requested by %s in %s.",
	sayAskedByNobody:     "Requested by the command line.",
	sayAskedBySchedule:   "Schedule: %s",
	sayOwnerAsked:        "🔐 I've asked my owner. `%s` waits for the answer. /stop cancels.",
	sayOwnerAskedByRun:   "🔐 Schedule %s: I've asked my owner. `%s` waits for the answer.",
	sayOwnerUnreached:    "❌ I couldn't reach an owner: denied",
	sayOwnerFirst:        "I'm waiting for my owner's answer. Your message comes next. /stop cancels.",
	sayOwnersDecide:      "Only an owner can decide.",
	sayNotYours:          "Only the person who asked for it, or an owner, can decide this.",
	sayOutcomeOnce:       "✅ Allowed once",
	sayOutcomeHour:       "🕐 Allowed for 1 hour",
	sayOutcomeDenied:     "❌ Denied",
	sayOutcomeExpired:    "⌛ Nobody answered: denied",
	sayOutcomeStopped:    "⏹ Stopped: denied",
	sayAsks:              "❓ The MCP server `%s` asks you:",
	sayAsksStep:          "❓ The MCP server `%s` asks you (%d of %d):",
	sayAskPage:           "🔗 The MCP server `%s` wants you to open a page at `%s`:",
	sayAskCare:           "Open it only if you expect it and know that place. I never open it myself.",
	sayAskPaste:          "Open it and sign in there. Then send me the address that your browser shows in the end; it begins with `%s` and need not load.",
	sayAskWrite:          "Write the answer as your next message.",
	sayAskGoes:           "The answer goes to that server. Never give it passwords, keys or codes.",
	sayAskUntil:          "No answer within %s cancels it.",
	sayAskWords:          "Choose with (1), (2), …, or write decline or cancel.",
	sayAskOwner:          "The MCP server `%s` wants a page to be opened. I have asked an owner of this bot.",
	sayAskRefused:        "🔐 The MCP server `%s` asked you for `%s`. Nothing like that is given to a server in a chat, so I declined.",
	sayWordYes:           "Yes",
	sayWordNo:            "No",
	sayWordSkip:          "⏭ Leave it out",
	sayWordKeep:          "Keep: %s",
	sayWordAsIs:          "Send it as it is",
	sayWordChange:        "✏️ Change something",
	sayWordOpen:          "🔗 Open",
	sayWordOpened:        "✅ I opened it",
	sayWordDecline:       "❌ Decline",
	sayWordCancel:        "✖️ Cancel",
	sayFlawNumber:        "That is no number.",
	sayFlawInteger:       "That is no whole number.",
	sayFlawOption:        "That is none of the options.",
	sayFlawShort:         "It must have at least %s characters.",
	sayFlawLong:          "It may have at most %s characters.",
	sayFlawSmall:         "It must be at least %s.",
	sayFlawLarge:         "It may be at most %s.",
	sayFlawFew:           "Choose at least %s.",
	sayFlawMany:          "Choose at most %s.",
	sayFlawForm:          "It must have the form %s.",
	sayOutcomeAnswered:   "✅ Answered",
	sayOutcomeDeclined:   "❌ Declined",
	sayOutcomeCancelled:  "✖️ Cancelled",
	sayOutcomeUnanswered: "⌛ Nobody answered: cancelled",
	sayOutcomeEnded:      "⏹ Stopped: cancelled",
	sayOutcomeLost:       "⏹ Answered, but I was stopped before the call had ended: the answer may not have arrived.",
	cmdMCP:               "MCP servers and their tools",
	sayMCPNone:           "No MCP servers are set up. klawbot mcp add sets one up, or tools.mcp in config.yaml.",
	sayMCPServer:         "%s: %s; tools: %d in use, %d new, %d changed",
	sayMCPReady:          "ready",
	sayMCPStarting:       "starting",
	sayMCPDown:           "down",
	sayMCPUsage:          "/mcp NAME shows a server and its tools.",
	sayMCPUnknown:        "There is no MCP server %s. /mcp lists the ones there are.",
	sayMCPAccept:         "To let me use the new and changed tools just as they are shown: /mcp approve %s %s",
	sayMCPAccepted:       "Tools accepted: %d. %s",
	sayMCPOther:          "The server offers something else than was shown. Please look again: /mcp %s",
	sayMCPNothing:        "There is nothing to accept.",
	sayMCPChanged:        "The MCP server %s describes tools in another way than you accepted, so I do not use them: %s. Look at them: /mcp %s",
	sayMCPWantsSignIn:    "The MCP server %s wants you to sign in. To begin: /mcp signin %s",
	sayMCPSigningIn:      "I ask the server %s where to sign in.",
	sayMCPSignedIn:       "You are signed in at the MCP server %s.",
	sayMCPNotSignedIn:    "Signing in at the MCP server %s did not work: %s",
	sayMCPNoSignIn:       "Nobody signs in at the MCP server %s: it is a program, or has a key of its own.",
}

var russian = [phraseCount]string{
	cmdRemind:           "напомнить: /remind завтра в 9 позвонить маме",
	cmdSchedule:         "что запланировано, с кнопками",
	cmdHeartbeat:        "за чем бот следит сам",
	sayHeartbeatOff:     "Heartbeat выключен. Его включают задачи в HEARTBEAT.md рабочей папки.",
	sayHeartbeatNoEvery: "Heartbeat выключен: в HEARTBEAT.md текст без задач, а heartbeat.every не задан.",
	sayHeartbeatOn:      "За чем я слежу сам (HEARTBEAT.md):",
	sayHeartbeatLogged:  "только в журнал",
	sayHeartbeatQuiet:   "Тихие часы: %s–%s, ничего не запускается.",
	sayHeartbeatBudget:  "Токены за сегодня: %d из %d.",
	sayHeartbeatSpent:   "Токены heartbeat на сегодня израсходованы.",
	sayRunSpent:         "Израсходовано токенов: %d, разрешено %d (scheduler.runTokens). Дайте меньше работы за один раз или увеличьте предел.",
	sayHeartbeatFaults:  "⚠️ HEARTBEAT.md:\n%s",
	sayStoppedSubagents: "Остановлено субагентов: %d.",
	saySpawnFailed:      "⚠️ Субагент %q не справился: %s",
	saySpawnLost:        "⚠️ Субагент %q потерян: %s Что он успел, сделано; запустите его снова, если остальное ещё нужно.",
	sayLostOld:          "он был прерван больше суток назад.",
	sayLostTurn:         "бот был прерван, и как далеко он продвинулся, уже неизвестно.",
	sayOnce:             "один раз, %s",
	sayRunTooLong:       "Это заняло слишком много времени и было остановлено.",
	sayRunNoModel:       "Нет языковой модели, которая могла бы это сделать.",
	sayJobFailed:        "⚠️ Не удалось выполнить %q, и повторная попытка тоже: %s\nРасписание продолжает действовать; повторять это сообщение не буду. Подробнее: /schedule.",
	sayJobPaused:        "⏸ Расписание %q приостановлено: %s\nСнова включить: /schedule resume %[1]s",
	sayRemindUsage:      "Использование: /remind ВРЕМЯ ТЕКСТ, например: /remind завтра в 9 позвонить маме, /remind через 20 минут чай, /remind в понедельник в 10:30 отчёт.",
	sayRemindOnce:       "Напоминание приходит один раз. О том, что повторяется, попросите словами, или в терминале бота: klawbot schedule add ИМЯ \"0 9 * * *\" ТЕКСТ --inject-into %s",
	sayRemindSet:        "⏰ %s (%s): %s",
	sayRemindPast:       "Это время уже прошло: %s.",
	sayRemindBad:        "Не понимаю время: %s.",
	sayScheduleNone:     "Ничего не запланировано. /remind ВРЕМЯ ТЕКСТ создаёт напоминание.",
	sayScheduleHead:     "Запланировано:",
	sayScheduleNext:     "следующий запуск %s",
	sayScheduleOff:      "приостановлено",
	sayScheduleMore:     "… и ещё %d.",
	sayScheduleUsage:    "Использование: /schedule или /schedule run|pause|resume|skip|delete|logs ИМЯ.",
	sayScheduleGone:     "Расписания %q здесь нет. Список — /schedule.",
	sayScheduleRuns:     "▶ %q выполняется.",
	sayScheduleOn:       "%q включено, следующий запуск %s.",
	sayScheduleSkipped:  "⏭ Следующий запуск %q пропускается; затем %s.",
	sayScheduleRemoved:  "🗑 %q удалено.",
	sayScheduleNoRuns:   "%q ещё не запускалось.",

	sayGreeting:          "Здравствуйте! Пишите мне как человеку. /help покажет, что ещё я умею.",
	sayHelpHead:          "Пишите обычными словами или используйте:",
	sayUnknownCommand:    "Неизвестная команда: /%s. Список команд — /help.",
	sayNewSession:        "Начат новый разговор. Прежний контекст сброшен.",
	sayModelIs:           "Текущая модель: %s",
	sayModelSet:          "Выбрана модель: %s",
	sayModelUnknown:      "Неизвестная модель '%s'. Доступны: %s",
	sayModelsHead:        "Доступные модели:",
	sayModelsNone:        "Модель не настроена. Запустите klawbot init или задайте models.entries в config.yaml.",
	sayStopped:           "Остановлено.",
	sayStoppedDropped:    "Остановлено. Сброшено ожидавших сообщений: %d.",
	sayNothingRuns:       "Ничего не выполняется.",
	sayBackground:        "В фоне продолжается:\n%s\nЗавершить:\n%s",
	sayCut:               "⏹ остановлено здесь",
	sayNoAnswer:          "(нет ответа)",
	sayFileNotSent:       "📄 %s не удалось отправить. Подробности — у владельца в журнале.",
	sayFileInDoubt:       "📄 Неизвестно, дошёл ли файл %s.",
	sayUndeliverable:     "Ответ есть, но показать его здесь не удалось. Подробности — у владельца в журнале.",
	sayQueue:             "Я ещё занят; ожидают сообщений: %d, отвечу на них по порядку. /stop их сбросит.",
	sayExpired:           "Эта кнопка больше не действует.",
	sayOwnersOnly:        "Команда /%s доступна только владельцу бота (ownerIds в config.yaml).",
	sayNoModelLabel:      "[без модели]",
	sayNoModelHere:       "Языковой модели пока нет, поэтому словами я ответить не могу. Её может настроить владелец этого бота.",
	sayAnswerFirst:       "Я жду ответа на вопрос выше; то, что вы пишете сейчас, будет после этого. /stop прекратит ожидание.",
	saySeconds:           "%d с",
	sayMinutes:           "%d мин",
	sayHours:             "%d ч",
	sayDays:              "%d дн",
	sayButtonFirst:       "Я жду нажатия одной из кнопок выше; то, что вы пишете сейчас, будет после этого. /stop прекратит ожидание.",
	sayNoModel:           "Языковой модели пока нет, поэтому словами я ответить не могу. Без неё работает: /remind, /schedule, /files, /note ТЕКСТ, /memory search ТЕКСТ, /tool ИМЯ JSON, /export, /help. Настроить модель: klawbot init.",
	sayToolUsage:         "Использование: /tool ИМЯ {\"аргумент\": \"значение\"}. Инструменты: %s",
	sayNoteUsage:         "Использование: /note ТЕКСТ",
	sayNoteDone:          "Записано в notes.md.",
	sayMemoryUsage:       "Использование: /memory показывает, что я всегда знаю, /memory search ТЕКСТ ищет в том, что я помню.",
	sayMemoryEmpty:       "Основная память пуста: пока нет ничего, что нужно помнить всегда.",
	sayExported:          "Этот разговор сохранён в рабочей папке: %s.",
	sayLimitNote:         "Предел вызовов инструментов для этого ответа достигнут. Ответь сейчас тем, что есть, и скажи, что осталось сделать.",
	saySecretLost:        "бот был перезапущен до этой команды, а в ней был секрет, который не хранится: отправь её ещё раз, если она ещё нужна",
	sayInterrupted:       "прервано перезапуском, состояние неизвестно: проверь, прежде чем повторять",
	sayUnreadable:        "Не удалось прочитать это сообщение.",
	sayUnheard:           "Голосовые сообщения я пока не умею слушать; напишите, пожалуйста, текстом.",
	sayChatLost:          "Чат %s (%s) больше недоступен: %s. То, что ждало отправки туда, сброшено. Он снова заработает, как только мне там напишут.",
	sayErrBusy:           "Модель сейчас перегружена. Попробуйте через минуту.",
	sayErrUnreachable:    "Модель сейчас недоступна. Попробуйте позже.",
	sayErrStall:          "Модель замолчала посреди ответа. Попробуйте ещё раз.",
	sayErrQuota:          "Квота или бюджет модели исчерпаны. Владельцу нужно их пополнить.",
	sayErrAuth:           "Провайдер модели не принимает ключ API. Владельцу нужно его проверить (klawbot doctor).",
	sayErrTooLong:        "Этот разговор слишком длинный для модели. /new начнёт новый.",
	sayErrRefused:        "Модель отказалась отвечать на это.",
	sayErrModel:          "Провайдер не знает модель '%s'. Остальные — /models.",
	sayErrRequest:        "Провайдер модели не принял запрос. Подробности — у владельца в журнале.",
	sayErrInternal:       "С моей стороны что-то пошло не так. Ваше сообщение сохранено; подробности — у владельца в журнале.",
	sayAnsweredBy:        "ответила модель %s: %s сейчас не работает",
	sayNoTools:           "модель %s не умеет вызывать инструменты, поэтому ответила без них",
	sayNoSchema:          "сервер модели %s не понимает, что принимают эти инструменты, поэтому она ответила без них: %s",
	sayInputCut:          "сервер модели %s отбросил часть разговора: его контекстное окно меньше, чем contextBudget",
	sayLoading:           "Модель загружается, подождите …",
	sayBudgetTokens:      "Дневной бюджет модели исчерпан (%d из %d токенов). Я снова смогу отвечать после полуночи (%s) или когда владелец поднимет models.budget.perDayTokens.",
	sayBudgetUSD:         "Дневной бюджет модели исчерпан (%s из %s). Я снова смогу отвечать после полуночи (%s) или когда владелец поднимет models.budget.perDayUSD.",
	sayUsage:             "Сегодня: вызовов модели %d, токенов на входе %d, на выходе %d",
	sayUsageEstimated:    ", ещё около %d, которых провайдер не посчитал",
	sayUsagePartly:       ", %s за вызовы с известной ценой",
	sayStatus:            "Чат: %s\nМодель: %s\nРазговор с: %s\nВремя работы: %s\nОжидают: %d входящих, %d исходящих",
	cmdNew:               "начать новый разговор",
	cmdModel:             "показать или выбрать модель",
	cmdModels:            "список моделей",
	cmdStatus:            "состояние бота",
	cmdStop:              "остановить выполнение",
	cmdHelp:              "что умеет бот",
	cmdTool:              "вызвать инструмент: /tool ИМЯ JSON",
	cmdFiles:             "файлы рабочей папки",
	cmdNote:              "записать строку в notes.md",
	cmdMemory:            "что я помню: search ТЕКСТ",
	cmdExport:            "сохранить разговор в файл",
	cmdDoctor:            "проверить каждую часть бота",
	cmdSkills:            "список навыков",
	cmdDocs:              "найти в руководстве: /docs СЛОВА",
	sayPrivately:         "/%s отвечает только в личном чате.",
	sayPolled:            "последняя связь %s назад",
	sayOldest:            "самое старое ждёт %s",
	sayStorage:           "База данных: %s\nПоследняя копия: %s",
	sayUnstored:          "Сейчас я не могу сохранять сообщения и потому пока не отвечаю. Ничего не потеряно: отвечу, как только смогу.",
	sayRecovered:         "Моя база данных была повреждена. Теперь работает резервная копия от %s: более новое утрачено. Принятых сообщений без ответа: %s. Тем, кто их написал, я об этом скажу. `klawbot reindex`, пока я остановлен, вернёт из журналов разговоров то, что было сказано с тех пор. Где повреждённый файл — сказано в журнале.",
	sayRebuilt:           "Моя база данных была повреждена, а пригодной резервной копии не было: теперь у меня новая база. Чего в ней нет из наших разговоров, `klawbot reindex`, пока я остановлен, вернёт из журналов разговоров. Расписания, напоминания, воспоминания и разрешения пропали.",
	sayDamaged:           "Моя база данных повреждена, поэтому новых сообщений я не принимаю. Telegram хранит их 24 часа, я отвечу на них после перезапуска. Принятых сообщений без ответа: %s.",
	sayDamagedBackup:     "Перезапустите меня: остановите `klawbot run` и запустите снова. Я продолжу с новейшей исправной резервной копией, от %s. Чтобы вернуть и то, что было сказано с тех пор, перед запуском выполните `klawbot reindex`.",
	sayDamagedAlone:      "Резервной копии нет. Остановите меня, выполните `klawbot reindex` — он построит новую базу из журналов разговоров — и запустите снова.",
	sayAtLeast:           "не меньше %d",
	sayLost:              "Моя база данных была повреждена, и написанное вами пропало раньше, чем я ответил (сообщений: %d). Пришлите, пожалуйста, ещё раз то, что осталось без ответа.",
	sayLoopHint:          "(Ты сделал этот же вызов уже %d раз и всегда получал этот результат. Сделай что-то другое или ответь.)",
	sayLoopNote:          "Ты повторяешь один и тот же вызов, и ничего нового нет. Больше никаких вызовов для этого ответа: скажи, что уже сделано и что осталось.",
	sayApprove:           "🔐 Можно выполнить `%s`?",
	sayDangerous:         "⚠️ Это нельзя отменить.",
	sayApproveUntil:      "Без ответа в течение %s считается, что нельзя.",
	sayApproveWords:      "Ответьте y (один раз), a (именно этот вызов в течение часа) или n (нет).",
	sayButtonOnce:        "✅ Один раз",
	sayButtonHour:        "🕐 Именно это, 1 ч",
	sayButtonNo:          "❌ Нет",
	sayApproveOnceWords:  "Ответьте y (один раз) или n (нет).",
	sayOtherFiles:        "Команда может запустить другие файлы, которые я не могу проверить. Я буду спрашивать каждый раз.",
	sayManyFiles:         "Команда может запустить другие файлы. Их слишком много, и я не могу следить за изменениями. Я буду спрашивать каждый раз.",
	sayAskedPrivately:    "Просит %s в личном чате.",
	sayAskedIn:           "Просит %s в %s.",
	sayAskedByNobody:     "Запрошено из командной строки.",
	sayAskedBySchedule:   "Расписание: %s",
	sayOwnerAsked:        "🔐 Я спросил владельца. `%s` ждёт ответа. /stop отменяет.",
	sayOwnerAskedByRun:   "🔐 Расписание %s: я спросил владельца. `%s` ждёт ответа.",
	sayOwnerUnreached:    "❌ Не удалось связаться с владельцем: отклонено",
	sayOwnerFirst:        "Я жду ответа владельца. Ваше сообщение будет следующим. /stop отменяет.",
	sayOwnersDecide:      "Решить может только владелец.",
	sayNotYours:          "Это может решить только тот, кто просил, или владелец.",
	sayOutcomeOnce:       "✅ Разрешено один раз",
	sayOutcomeHour:       "🕐 Разрешено на 1 час",
	sayOutcomeDenied:     "❌ Отклонено",
	sayOutcomeExpired:    "⌛ Никто не ответил: отклонено",
	sayOutcomeStopped:    "⏹ Остановлено: отклонено",
	sayAsks:              "❓ Сервер MCP `%s` спрашивает вас:",
	sayAsksStep:          "❓ Сервер MCP `%s` спрашивает вас (%d из %d):",
	sayAskPage:           "🔗 Сервер MCP `%s` просит открыть страницу на `%s`:",
	sayAskCare:           "Открывайте её, только если ждали этого и знаете это место. Сам я её не открываю.",
	sayAskPaste:          "Откройте её и войдите там. Затем пришлите мне адрес, который браузер покажет в конце; он начинается с `%s`, загружаться ему не обязательно.",
	sayAskWrite:          "Напишите ответ следующим сообщением.",
	sayAskGoes:           "Ответ уйдёт на этот сервер. Не давайте ему паролей, ключей и кодов.",
	sayAskUntil:          "Без ответа в течение %s вопрос отменяется.",
	sayAskWords:          "Выберите (1), (2), … или напишите «отклонить» или «отмена».",
	sayAskOwner:          "Сервер MCP `%s` просит открыть страницу. Я спросил владельца этого бота.",
	sayAskRefused:        "🔐 Сервер MCP `%s` попросил у вас `%s`. Такое серверам в чате не дают, поэтому я отклонил.",
	sayWordYes:           "Да",
	sayWordNo:            "Нет",
	sayWordSkip:          "⏭ Пропустить",
	sayWordKeep:          "Оставить: %s",
	sayWordAsIs:          "Отправить как есть",
	sayWordChange:        "✏️ Изменить",
	sayWordOpen:          "🔗 Открыть",
	sayWordOpened:        "✅ Я открыл",
	sayWordDecline:       "❌ Отклонить",
	sayWordCancel:        "✖️ Отмена",
	sayFlawNumber:        "Это не число.",
	sayFlawInteger:       "Это не целое число.",
	sayFlawOption:        "Такого варианта нет.",
	sayFlawShort:         "Нужно не меньше %s знаков.",
	sayFlawLong:          "Можно не больше %s знаков.",
	sayFlawSmall:         "Нужно не меньше %s.",
	sayFlawLarge:         "Можно не больше %s.",
	sayFlawFew:           "Выберите не меньше %s.",
	sayFlawMany:          "Выберите не больше %s.",
	sayFlawForm:          "Нужен вид %s.",
	sayOutcomeAnswered:   "✅ Отвечено",
	sayOutcomeDeclined:   "❌ Отклонено",
	sayOutcomeCancelled:  "✖️ Отменено",
	sayOutcomeUnanswered: "⌛ Никто не ответил: отменено",
	sayOutcomeEnded:      "⏹ Остановлено: отменено",
	sayOutcomeLost:       "⏹ Отвечено, но меня остановили до конца вызова: ответ мог не дойти.",
	cmdMCP:               "серверы MCP и их инструменты",
	sayMCPNone:           "Серверы MCP не настроены. Добавить: klawbot mcp add или tools.mcp в config.yaml.",
	sayMCPServer:         "%s: %s; инструменты: %d в работе, %d новых, %d изменённых",
	sayMCPReady:          "работает",
	sayMCPStarting:       "запускается",
	sayMCPDown:           "не работает",
	sayMCPUsage:          "/mcp ИМЯ показывает сервер и его инструменты.",
	sayMCPUnknown:        "Сервера MCP %s нет. Список — /mcp.",
	sayMCPAccept:         "Разрешить новые и изменённые инструменты именно такими, как показано: /mcp approve %s %s",
	sayMCPAccepted:       "Разрешено инструментов: %d. %s",
	sayMCPOther:          "Сервер предлагает не то, что было показано. Посмотрите ещё раз: /mcp %s",
	sayMCPNothing:        "Разрешать нечего.",
	sayMCPChanged:        "Сервер MCP %s описывает инструменты не так, как вы разрешили, поэтому я их не использую: %s. Посмотреть: /mcp %s",
	sayMCPWantsSignIn:    "Сервер MCP %s просит войти. Начать: /mcp signin %s",
	sayMCPSigningIn:      "Спрашиваю у сервера %s, где войти.",
	sayMCPSignedIn:       "Вход на сервер MCP %s выполнен.",
	sayMCPNotSignedIn:    "Войти на сервер MCP %s не удалось: %s",
	sayMCPNoSignIn:       "На сервер MCP %s не входят: это программа, или у неё свой ключ.",
}

// say returns a sentence in the language, with its blanks filled.
func say(language string, p phrase, args ...any) string {
	text := english[p]
	if language == "ru" {
		text = russian[p]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// sayError is the one plain sentence that a person reads when a model call failed.
func sayError(language string, kind llm.ErrorKind, model string) string {
	switch kind {
	case llm.RateLimit, llm.Overloaded:
		return say(language, sayErrBusy)
	case llm.Network:
		return say(language, sayErrUnreachable)
	case llm.Stall, llm.Truncated:
		return say(language, sayErrStall)
	case llm.Quota:
		return say(language, sayErrQuota)
	case llm.Auth:
		return say(language, sayErrAuth)
	case llm.ContextOverflow:
		return say(language, sayErrTooLong)
	case llm.Refused:
		return say(language, sayErrRefused)
	case llm.NotFound:
		return say(language, sayErrModel, model)
	case llm.BadRequest, llm.Unsupported:
		return say(language, sayErrRequest)
	}
	return say(language, sayErrInternal)
}

// inCode sets text as a block of code that holds whatever it is.
func inCode(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// span is how long something lasts, in the language of the bot.
func (e *Engine) span(d time.Duration) string { return span(e.settings().Language, d) }

// span is a time in words: to the second, from an hour on to the minute, from a
// day on to the hour.
func span(language string, d time.Duration) string {
	d = max(d.Round(time.Second), 0)
	large, many, small, few := sayMinutes, d/time.Minute, saySeconds, d%time.Minute/time.Second
	switch {
	case d >= 24*time.Hour:
		large, many, small, few = sayDays, d/(24*time.Hour), sayHours, d%(24*time.Hour)/time.Hour
	case d >= time.Hour:
		large, many, small, few = sayHours, d/time.Hour, sayMinutes, d%time.Hour/time.Minute
	}
	switch {
	case many <= 0:
		return say(language, small, few)
	case few == 0:
		return say(language, large, many)
	}
	return say(language, large, many) + " " + say(language, small, few)
}
