package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// packageRule says how many lines a package may have, without its tests, and what it may
// import of ours. Fakes and tools for tests have no bound: 0.
type packageRule struct {
	lines   int
	imports []string
	why     string
}

// maxTotal bounds the lines of the program, without tests, fakes and tools for tests.
// It was raised for llm/speech: what servers do not parse reaches people otherwise.
// Another 600 are for tools/terminal: what a command writes is shown as a terminal would.
// Another 600 are for tools/charset and tools/file/text: encodings, line ends, names.
// And for what is reported at the start: it showed at the first message.
// Another 800 are for terms: search found no emoji, no C++, no Arabic word with its article.
// Another 2,500 are for phrase and rules: reminders are understood in full or asked about.
// Another 1,200 are for formulas and tables in answers, and for topics and rights of groups.
// Another 10,000 are for media: pictures, speech, documents, in and out.
// Another 2,000 are for the front doors: a terminal that can be used, a setup that forgives,
// unknown senders.
// Another 9,000 are for the web page, a warm standby, and what media send.
// Another 500 are the markup of the pages, 300 lines of templates that were not counted:
// html/template took 4.5 MB of the program.
// Another 400 are for what an attack found: words of a time in other languages, calls that
// models print as functions, merge keys, languages of OCR.
// Another 150 are for a setup that completes what klawbot chat began, and for marks and next
// steps in klawbot status.
// Another 200 are for what a second attack found: words beside a time that say another day.
// Another 200 are for a host that waits: status, health and doctor knew nothing of it.
// Another 150 are for Anthropic's deferred tools, for models that misbehave and for a local
// one that is stopped: endless calls, filtered answers, arguments without names, a signal
// before the kill.
// Another 100 are for lines that fold at a terminal's width and for what a chat sees once it
// was removed.
// Another 100 are for the words of times, which are a package of their own now, for the
// conditions beside them, which were hard to read, and for gaps that an attack found.
// Another 750 are for PDFium: PDFs without programs of the system, with its download.
// Another 75 take a fifth off what a turn costs: texts that are surely not wanted are not
// looked at, and what is known is not read again.
// Another 25 are for what an attack on these found: licenses of another PDFium, a disk that
// runs no library, a log that was written twice.
const maxTotal = 119400

// allowed is the layering of the house: package → what it may import of ours.
// A prefix ends in "/...". A new package needs a row, so growth is a decision.
var allowed = map[string]packageRule{
	"whitelist":                          {125, nil, "pure rules"},
	"gateway":                            {1385, []string{"internal/clip", "internal/redact", "whitelist"}, "the only way in and out; muted places and topics are words of it; and what attachments are; tells who knocked, shows what the bot does; albums; decodes typed messages for terminal and page"},
	"gateway/telegram":                   {2900, []string{"gateway", "gateway/telegram/markdown", "internal/clip", "internal/httpclient", "internal/redact", "internal/wait"}, "one channel; clients are made in one place; a token is refused for a moment now and then, and groups mute the bot; finds and downloads files; albums"},
	"gateway/telegram/markdown/latex":    {375, nil, "pure: formula in, text out"},
	"gateway/telegram/markdown":          {2200, []string{"gateway", "gateway/telegram/markdown/latex", "internal/clip"}, "pure: text in, messages out; lends its parser to the web page"},
	"gateway/console":                    {675, []string{"gateway"}, "one channel; says which word refuses a question; files of terminals; shows what the bot does"},
	"tools":                              {2775, []string{"internal/clip", "internal/redact", "tools/budget", "tools/near", "tools/params", "tools/rule", "tools/injection", "tools/choice"}, "what a tool is, and the pipeline; and 50 for the ends of outputs; marks foreign text in messages; albums; questions without arguments that equal their default"},
	"gateway/web":                        {2150, []string{"gateway", "gateway/web/control", "gateway/web/html", "gateway/web/markdown", "internal/clip", "internal/redact"}, "one channel: the page, with sign-in, streams"},
	"gateway/web/control":                {1725, []string{"gateway/web/html", "internal/advice"}, "the pages beside the chat: what they read and do, their markup, and the texts of the engine in Russian; texts.txt and phrases.txt hold the words"},
	"gateway/web/html":                   {100, nil, "pure: patterns and values in, safe markup out"},
	"gateway/web/markdown":               {290, []string{"gateway/telegram/markdown", "internal/redact"}, "pure: text in, HTML out in which nothing can run and no secret shows; links addresses"},
	"engine/internal/desk":               {1325, []string{"engine/health", "engine/internal/approval", "engine/internal/corememory", "engine/internal/llm", "engine/internal/media", "engine/internal/memory", "engine/internal/recall", "engine/internal/schedule", "engine/internal/store", "engine/internal/stranger", "engine/internal/wording", "engine/settings", "gateway", "gateway/web", "gateway/web/control", "internal/clip", "internal/redact", "tools", "tools/job", "tools/recall", "tools/self"}, "what the web page reads and does: the chat, and ten pages of control, through what commands use; and 50 for finds that have a word of the question, why the allow list cannot be changed, and when questions expire"},
	"tools/find":                         {525, []string{"tools", "tools/choice"}, "which tools a model is shown; ranked by single words too, of several families"},
	"tools/choice":                       {325, nil, "a leaf: which words ask for a tool; and the vocabulary and the keywords for ranking; and 15 for bits that end most phrases without a look: they took a fortieth of a turn"},
	"tools/budget":                       {150, nil, "a leaf"},
	"tools/injection":                    {1725, []string{"internal/clip", "tools/budget"}, "pure: text in, verdict out"},
	"tools/file":                         {2400, []string{"internal/clip", "internal/wait", "tools", "tools/charset", "tools/injection", "tools/file/match", "tools/file/text"}, "one family; what enters prompts is screened"},
	"tools/file/match":                   {250, []string{"tools/budget"}, "pure: patterns for names and lines"},
	"tools/file/text":                    {250, nil, "pure: encodings, line ends and letters of a text file"},
	"tools/guide":                        {575, []string{"internal/clip", "tools"}, "one family"},
	"tools/job":                          {625, []string{"internal/clip", "tools"}, "one family; times in the zone of the bot"},
	"tools/message":                      {425, []string{"tools"}, "one family; a message stays in its topic; speaks; albums"},
	"tools/near":                         {80, []string{"internal/clip"}, "a leaf"},
	"tools/params":                       {850, []string{"internal/clip", "tools/budget", "tools/near"}, "pure: arguments in, arguments or faults out; null that means something"},
	"tools/terminal":                     {500, []string{"tools/budget"}, "pure: output in, text out"},
	"tools/rule":                         {325, []string{"tools/budget", "tools/file/match"}, "pure: call in, verdict out"},
	"tools/recall":                       {350, []string{"tools"}, "one family"},
	"tools/media":                        {225, []string{"tools"}, "one family: documents and pictures"},
	"tools/self":                         {275, []string{"tools"}, "one family"},
	"tools/exec":                         {2000, []string{"internal/clip", "tools", "tools/budget", "tools/exec/command", "tools/exec/host", "tools/sandbox", "tools/sandbox/keep"}, "one family"},
	"tools/exec/command":                 {1500, []string{"tools/budget", "tools/exec/program"}, "pure rules"},
	"tools/exec/program":                 {500, nil, "pure: what programs do with their arguments"},
	"tools/mcp":                          {2125, []string{"internal/clip", "internal/httpclient", "internal/wait", "tools", "tools/mcp/...", "tools/sandbox", "tools/terminal"}, "one family"},
	"tools/plugin":                       {725, []string{"internal/atomicfile", "tools", "tools/params", "tools/sandbox", "tools/terminal"}, "one family"},
	"tools/charset":                      {450, nil, "pure: bytes in, text out; short texts with nothing but signs; short Russian words"},
	"tools/web":                          {875, []string{"internal/clip", "internal/httpclient", "tools", "tools/charset", "tools/web/browser", "tools/web/load", "tools/web/page"}, "one family"},
	"tools/sandbox":                      {2400, []string{"tools/sandbox/keep", "tools/sandbox/seccomp", "tools/terminal"}, "runs a process, confined; readers of foreign files have a scratch directory and a bound of memory; and 25 to ask a command to end first"},
	"tools/sandbox/keep":                 {200, nil, "a leaf: restores files"},
	"tools/sandbox/seccomp":              {175, nil, "pure: filters of system calls"},
	"tools/exec/host":                    {125, []string{"tools/sandbox"}, "what the shell and git share outside a sandbox"},
	"tools/exec/git":                     {1200, []string{"tools", "tools/exec/host", "tools/sandbox", "tools/sandbox/keep", "internal/clip"}, "one tool"},
	"skills":                             {25, nil, "embedded files"},
	"engine":                             {2070, []string{"engine/internal/...", "engine/settings", "gateway", "internal/clip", "internal/wait", "tools", "tools/guide", "tools/job", "tools/mcp", "tools/self", "engine/health", "engine/probe", "engine/probe; what the web page needs of it"}, "turns; messages that join, edits that address the bot, places where it is muted, unknown senders, albums; hands files to media; and 10 for the end of a turn that reaches the disk with the mark of its answer"},
	"engine/health":                      {1285, []string{"engine/internal/store/condition", "internal/advice", "engine/internal/archive", "engine/internal/llm", "engine/internal/locale", "engine/internal/memory", "engine/internal/model", "engine/internal/recall", "engine/internal/sqlite", "engine/internal/store", "engine/internal/toolset", "engine/internal/workspace", "engine/probe", "engine/settings", "gateway", "internal/redact", "tools", "tools/mcp", "tools/self", "engine/internal/localmodel", "engine/internal/document", "internal/clip", "engine/internal/voice", "engine/internal/transcribe", "engine/internal/readers", "engine/internal/confined", "engine/internal/document/pdfium"}, "says how the bot is; doctor looks at all models and the policy; tells the choice of the embedding model; marks with next steps, unknown senders; shows a sample to the model that sees; hears and speaks a word; the parts of the last request; a next step for each sense; the lease and the replica of a standby; languages of OCR that are not installed, and /proc; the status of a host that waits"},
	"engine/data":                        {1465, []string{"engine/health", "engine/internal/approval", "engine/internal/archive", "engine/internal/corememory", "engine/internal/embed", "engine/internal/lifecycle", "engine/internal/memory", "engine/internal/outbox", "engine/internal/recall", "engine/internal/schedule", "engine/internal/sqlite", "engine/internal/store", "engine/internal/toolset", "engine/internal/workspace", "engine/settings", "gateway", "internal/wait", "tools", "tools/job", "tools/mcp", "tools/recall", "tools/self", "engine/internal/localmodel", "engine/internal/transcribe", "engine/internal/voice", "engine/internal/media", "engine/internal/document/pdfium"}, "the data directory for commands; which embedding model the texts want; downloads the speech model, and 140 lines for PDFium and its licenses"},
	"engine/internal/eyes":               {125, []string{"engine/internal/confined", "engine/internal/llm", "engine/internal/media", "engine/internal/model", "engine/internal/picture", "engine/internal/store", "engine/settings", "tools", "tools/media"}, "pictures of tools, for models"},
	"engine/internal/picture":            {375, []string{"engine/internal/confined"}, "pictures for models: bounds, orientation, size"},
	"engine/settings":                    {350, []string{"tools", "tools/mcp"}, "what may change while the bot runs; media"},
	"engine/internal/document/pdf":       {240, []string{"engine/internal/confined", "engine/internal/document/pdfium", "engine/internal/document/programs"}, "pages of PDFs: two readers with one face"},
	"engine/internal/document/pdfium":    {370, nil, "loads a C library that only the child may have; a leaf"},
	"engine/internal/document/programs":  {75, []string{"engine/internal/confined"}, "programs of the system within the child"},
	"engine/internal/document":           {2950, []string{"engine/internal/confined", "engine/internal/document/pdf", "engine/internal/document/programs", "tools/charset", "tools/terminal", "tools/web/page"}, "files to text: a reader for each of twelve formats, in a child process; draws scans"},
	"engine/internal/confined":           {405, []string{"tools/sandbox"}, "a child process for foreign files; it knows no formats; tells a crash from a limit"},
	"engine/internal/chatqueue":          {600, []string{"engine/internal/lifecycle", "engine/internal/llm", "engine/internal/store", "engine/settings", "gateway", "internal/clip", "internal/wait"}, "when a turn begins; messages that join one"},
	"engine/internal/lifecycle":          {275, []string{"engine/internal/store", "gateway"}, "work that ends with the process, writes that outlast a full disk"},
	"engine/internal/estimate":           {175, []string{"engine/internal/llm", "engine/internal/model"}, "about how many tokens things take"},
	"engine/internal/prompt":             {1150, []string{"engine/internal/corememory", "engine/internal/estimate", "engine/internal/lifecycle", "engine/internal/llm", "engine/internal/memory", "engine/internal/model", "engine/internal/quote", "engine/internal/recall", "engine/internal/store", "engine/internal/summary", "engine/internal/workspace", "engine/internal/terms", "engine/settings", "gateway", "internal/clip", "internal/redact", "tools", "tools/injection", "tools/find", "tools/job"}, "what a model is shown, with the tools that a conversation keeps, and labels of older documents; how many pictures; the tokens of its parts for status"},
	"engine/internal/quote":              {100, []string{"engine/internal/llm", "engine/internal/store", "gateway", "internal/clip", "tools"}, "whose words a message holds"},
	"engine/internal/summary":            {450, []string{"engine/internal/estimate", "engine/internal/lifecycle", "engine/internal/llm", "engine/internal/model", "engine/internal/quote", "engine/internal/store", "engine/settings", "gateway", "internal/clip", "internal/redact", "tools"}, "sums up what is not shown any more, and skips the look at a conversation that is surely short"},
	"engine/internal/model":              {1375, []string{"engine/internal/llm", "engine/internal/llm/anthropic", "engine/internal/llm/ollama", "engine/internal/llm/openai", "engine/internal/llm/script", "engine/internal/locale", "engine/internal/store", "engine/settings", "internal/redact", "tools", "engine/internal/localmodel", "tools/sandbox"}, "one model call: slot, budget, retry, fallback; declarations of tools searched for secrets once; which models see; one looks for another; says how local models do"},
	"engine/internal/locale":             {1065, []string{"internal/advice", "engine/internal/llm"}, "the bot's own sentences; and about unknown senders; media; and what owners read instead; the file that is read"},
	"engine/internal/jobs":               {775, []string{"engine/internal/store", "engine/internal/times", "internal/wait"}, "what is due, and when"},
	"engine/internal/llm":                {1125, []string{"internal/wait"}, "the words of a model call; pictures"},
	"engine/internal/times":              {1350, []string{"internal/clip"}, "a leaf: cron expressions, recurrence rules, zones, and their words"},
	"engine/internal/phrase":             {3000, []string{"engine/internal/phrase/lexicon", "engine/internal/times", "internal/clip"}, "pure: words in, times out; two languages, and what is not clear is asked about instead of guessed; a part of the day that may be text; asks what a bare hour means; asks about words of a time in nine other languages, which fell into the text in silence, and about words beside a time that say another day: \"daily except weekends at 9\" repeated at weekends"},
	"engine/internal/phrase/lexicon":     {160, nil, "a leaf: the words of times"},
	"tools/mcp/form":                     {500, []string{"tools", "tools/budget", "tools/mcp/shown"}, "asks for a form"},
	"tools/mcp/lines":                    {80, nil, "pure: output in, messages out"},
	"tools/mcp/schema":                   {350, []string{"tools/budget", "tools/mcp/shown", "tools/params", "internal/schemaref"}, "pure: schema in, schema out"},
	"tools/mcp/shown":                    {40, []string{"internal/clip", "tools"}, "a leaf"},
	"tools/mcp/signin":                   {310, []string{"internal/httpclient", "tools/mcp/shown"}, "signs in at a server"},
	"tools/web/browser":                  {1175, []string{"internal/httpclient", "internal/program", "tools", "tools/web/load", "internal/wait"}, "one tool"},
	"tools/web/load":                     {175, []string{"internal/httpclient", "tools"}, "what both tools say of a load"},
	"tools/web/page":                     {1225, nil, "pure: page in, text out"},
	"internal/advice":                    {50, nil, "a leaf: commands as the program was started"},
	"internal/clip":                      {200, nil, "a leaf"},
	"engine/internal/llm/anthropic":      {1050, []string{"engine/internal/llm", "engine/internal/llm/protocol", "engine/internal/llm/speech"}, "one protocol; pictures in messages and results; and 50 for tools that are defined where they were found"},
	"engine/internal/llm/llmtest":        {0, []string{"engine/internal/llm"}, "plays recorded answers to the protocols"},
	"engine/internal/llm/ollama":         {580, []string{"engine/internal/llm", "engine/internal/llm/protocol", "engine/internal/llm/speech"}, "one protocol; reads no answer without an end"},
	"engine/internal/llm/openai":         {1200, []string{"engine/internal/llm", "engine/internal/llm/protocol", "engine/internal/llm/speech"}, "one protocol; parts of pictures, and which models see"},
	"engine/internal/llm/script":         {450, []string{"engine/internal/llm", "internal/wait"}, "one protocol"},
	"engine/internal/llm/protocol":       {1700, []string{"engine/internal/llm", "internal/clip", "internal/schemaref"}, "what the protocols share, schemas made once; pictures in base64, and the words of their refusals"},
	"engine/internal/store":              {5000, []string{"engine/internal/store/condition", "engine/internal/store/vectors", "engine/internal/store/schema", "engine/internal/llm", "engine/internal/sqlite", "gateway", "internal/atomicfile", "internal/redact"}, "everything kept; its addresses and updates are the gateway's; writes that need not wait for the disk; the chat of the web page"},
	"engine/internal/embed":              {2250, []string{"engine/internal/onnx", "internal/atomicfile", "internal/wait"}, "text to vector; files under other names in a folder"},
	"engine/internal/onnx":               {60, nil, "a leaf: loads the ONNX Runtime"},
	"engine/internal/sound":              {550, nil, "pure: a recording in, samples out"},
	"engine/internal/voice":              {575, []string{"engine/internal/confined", "engine/internal/embed", "engine/internal/llm", "engine/internal/llm/protocol", "engine/internal/onnx", "engine/settings", "internal/program"}, "text to sound: a voice of Piper, a server"},
	"engine/internal/transcribe":         {975, []string{"engine/internal/confined", "engine/internal/embed", "engine/internal/llm", "engine/internal/llm/protocol", "engine/internal/onnx", "engine/internal/sound"}, "sound to text: the local model, a server; weights in mapped files, a clip for the doctor"},
	"engine/internal/terms":              {975, []string{"engine/internal/store"}, "words of texts and questions; apart from memory since it knows signs, numbers and affixes; tells texts in more languages from English; numbers and their words"},
	"engine/internal/memory":             {2600, []string{"engine/internal/store/vectors", "engine/internal/llm", "engine/internal/store", "engine/internal/terms", "internal/clip"}, "remember and recall; no search where nothing is kept; takes changes back, for data and desk; and 25 to look at few texts where most words of a question must be in one: the search took a tenth of a turn"},
	"engine/internal/recall":             {1160, []string{"engine/internal/corememory", "engine/internal/embed", "engine/internal/lifecycle", "engine/internal/memory", "engine/internal/quote", "engine/internal/store", "engine/internal/terms", "engine/settings", "gateway", "internal/redact", "internal/wait", "tools", "tools/guide", "tools/injection", "tools/recall"}, "the memory at work; its embedding model also compares tools; chooses the model by the language of the texts; finds what files held; makes the vectors of tools beside the turns, until it is closed"},
	"engine/internal/workspace":          {1000, []string{"internal/clip", "tools/injection", "workspace-template"}, "reads a folder; what enters prompts is screened; a heartbeat of ticked boxes, labels and none has no task"},
	"engine/internal/toolset":            {660, []string{"engine/internal/lifecycle", "engine/internal/recall", "engine/internal/schedule", "engine/internal/sentfiles", "engine/internal/store", "engine/internal/workspace", "engine/settings", "gateway", "internal/advice", "internal/redact", "tools", "tools/find", "tools/guide", "tools/job", "tools/mcp", "tools/message", "tools/recall", "tools/self", "tools/web", "tools/near", "engine/internal/confined", "engine/internal/document", "tools/media", "engine/internal/voice", "engine/internal/document/pdfium"}, "builds the tools, once, for engine and data; names in the policy that no tool has; why a document cannot be read"},
	"engine/internal/archive":            {2025, []string{"engine/internal/llm", "engine/internal/sqlite", "engine/internal/store", "engine/internal/store/schema", "gateway", "internal/atomicfile", "internal/redact"}, "what lies beside the database; it has backups of whole data directories from engine/data; files of messages; goes back to before an update"},
	"engine/internal/outbox":             {1025, []string{"engine/internal/lifecycle", "engine/internal/locale", "engine/internal/sentfiles", "engine/internal/store", "gateway", "internal/clip", "internal/wait", "tools"}, "rows to deliver, and the couriers; they stop where the bot is muted; speaks answers when it sends them, albums; an answer is indexed when it was sent"},
	"engine/internal/progress":           {600, []string{"engine/internal/lifecycle", "engine/internal/store", "engine/settings", "gateway", "internal/clip", "internal/redact", "internal/wait"}, "what a chat sees of a turn at work; and which tool runs on what"},
	"engine/internal/media":              {1152, []string{"engine/internal/confined", "engine/internal/lifecycle", "engine/internal/llm", "engine/internal/locale", "engine/internal/model", "engine/internal/outbox", "engine/internal/store", "engine/settings", "gateway", "internal/advice", "internal/atomicfile", "internal/clip", "internal/wait", "tools"}, "the files of messages, from download to what a model reads; it knows no formats; scans as pictures; names the files that are kept; tells which file is next"},
	"engine/internal/readers":            {110, []string{"engine/internal/confined", "engine/internal/document", "engine/internal/media", "engine/internal/picture", "engine/internal/transcribe", "engine/internal/voice", "engine/settings", "engine/internal/document/pdfium"}, "who reads which file"},
	"engine/internal/store/condition":    {175, []string{"engine/internal/sqlite"}, "how a database fares, and what its errors say of the disk"},
	"engine/internal/store/schema":       {275, []string{"engine/internal/sqlite"}, "the steps to the schema; and a backup before them"},
	"engine/internal/store/storetest":    {0, []string{"engine/internal/llm", "engine/internal/store"}, "what the tests of store and archive share"},
	"engine/internal/store/vectors":      {80, nil, "pure: vectors as bytes"},
	"engine/internal/sqlite":             {550, nil, "a leaf: SQLite files, without tables; and a transaction without goroutines"},
	"engine/internal/corememory":         {900, []string{"engine/internal/store", "gateway", "internal/atomicfile", "tools", "tools/injection", "tools/recall"}, "the facts that turns know; what enters prompts is screened; it has the parts of chats from recall"},
	"internal/redact":                    {700, nil, "a leaf; searches no short text"},
	"internal/atomicfile":                {75, nil, "a leaf"},
	"internal/wait":                      {175, nil, "a leaf; and the clock that runs and MCP share"},
	"internal/program":                   {50, nil, "a leaf"},
	"internal/schemaref":                 {75, nil, "a leaf"},
	"internal/httpclient":                {550, nil, "a leaf"},
	"internal/telegramtest":              {0, []string{"internal/pipetest"}, "a fake knows nothing of ours"},
	"internal/telegramtest/faketelegram": {0, []string{"internal/telegramtest"}, "the fake as a program"},
	"internal/pipetest":                  {0, nil, "a leaf, for tests"},
	"internal/dnstest":                   {0, nil, "a fake knows nothing of ours"},
	"internal/llamatest":                 {0, nil, "a server of others knows nothing of ours"},
	"internal/speechtest":                {0, []string{"internal/needs"}, "clips of others, for tests"},
	"internal/needs":                     {0, nil, "a leaf, for tests"},
	"internal/modeltest":                 {0, []string{"internal/pipetest"}, "a fake knows nothing of ours"},
	"internal/modeltest/fakemodel":       {0, []string{"internal/modeltest"}, "the fake in a process of its own"},
	"scripts/notrun":                     {0, nil, "reads what go test writes"},
	"scripts/mutants":                    {0, nil, "tests the tests"},
	"workspace-template":                 {25, nil, "embedded files"},
	"doc":                                {25, nil, "embedded files"},
	"cmd/klawbot":                        {4090, []string{"internal/advice", "cmd/klawbot/internal/...", "engine", "gateway", "internal/redact", "tools", "tools/job", "tools/mcp", "tools/recall", "tools/injection", "whitelist", "engine/data", "engine/health", "internal/atomicfile", "gateway/console", "internal/clip"}, "the commands; klawbot model and klawbot telegram; marks and next steps; how to use a downloaded model; klawbot web; lists backups; status and health of a host that waits; lines folded at a terminal"},
	"cmd/klawbot/internal/config":        {2650, []string{"cmd/klawbot/internal/usage", "engine/settings", "gateway", "gateway/console", "gateway/telegram", "gateway/web", "internal/httpclient", "internal/redact", "tools", "tools/exec", "tools/exec/command", "tools/mcp", "tools/rule", "tools/sandbox", "tools/web", "whitelist", "engine/data", "cmd/klawbot/internal/keys", "tools/find"}, "the configuration; it knows whose settings it reads; what can never work is told at the start; the keys of media; the web page's keys"},
	"cmd/klawbot/internal/terminal":      {700, []string{"gateway/console", "internal/redact", "cmd/klawbot/internal/usage"}, "speaks with a person; waits for the own answer"},
	"cmd/klawbot/internal/yamledit":      {525, nil, "a leaf"},
	"cmd/klawbot/internal/configedit":    {775, []string{"cmd/klawbot/internal/config", "cmd/klawbot/internal/usage", "cmd/klawbot/internal/yamledit", "gateway", "internal/redact", "tools", "tools/self", "whitelist", "cmd/klawbot/internal/keys", "internal/atomicfile", "engine/settings"}, "edits of the configuration, proven; klawbot model, klawbot telegram and the button Allow; klawbot model and klawbot telegram; turns the web page on, which takes chats off the list"},
	"cmd/klawbot/internal/bot":           {1880, []string{"cmd/klawbot/internal/config", "cmd/klawbot/internal/configedit", "cmd/klawbot/internal/terminal", "cmd/klawbot/internal/usage", "doc", "engine", "gateway", "gateway/console", "gateway/telegram", "gateway/web", "gateway/web/control", "internal/clip", "internal/httpclient", "internal/redact", "skills", "tools", "tools/exec", "tools/exec/git", "tools/file", "tools/mcp", "tools/plugin", "tools/sandbox", "tools/self", "tools/web", "whitelist", "workspace-template", "engine/probe", "engine/data", "engine/health"}, "wiring; programs and ports that are not there; downloads the speech model; links of the web page, and what it shows of the configuration and the log; marks the parts in klawbot status; the socket and the health page of a host that waits; pulls PDFium"},
	"cmd/klawbot/internal/standby":       {1675, []string{"engine/health", "internal/atomicfile", "internal/httpclient", "internal/wait", "tools/sandbox"}, "the lease and the replica of a second host; tells their age, so that a standby that fails is seen; a host that waits says what it sees of the other"},
	"cmd/klawbot/internal/fleet":         {250, []string{"internal/wait"}, "several bots as child processes"},
	"cmd/klawbot/internal/setup":         {1275, []string{"cmd/klawbot/internal/bot", "cmd/klawbot/internal/config", "cmd/klawbot/internal/terminal", "cmd/klawbot/internal/usage", "engine/settings", "gateway/telegram", "internal/httpclient", "internal/redact", "engine/probe", "engine/data", "internal/atomicfile", "cmd/klawbot/internal/configedit", "cmd/klawbot/internal/keys"}, "a first configuration; klawbot model and klawbot telegram; offers the speech model; models of this machine by name or file, and their speed; completes what klawbot chat wrote, the owner for klawbot telegram"},
	"cmd/klawbot/internal/usage":         {20, nil, "a leaf"},
	"engine/internal/schedule":           {1775, []string{"engine/internal/jobs", "engine/internal/phrase", "engine/internal/llm", "engine/internal/locale", "engine/internal/store", "engine/internal/times", "engine/internal/workspace", "engine/settings", "gateway", "internal/clip", "internal/wait", "tools", "tools/job"}, "edits what is planned; it makes no runs; takes numbers of the list"},
	"engine/probe":                       {425, []string{"engine/internal/llm", "engine/internal/localmodel", "engine/internal/model", "engine/settings"}, "finds model servers, asks a model; measures a model of this machine"},
	"engine/internal/approval":           {1350, []string{"engine/internal/lifecycle", "engine/internal/locale", "engine/internal/outbox", "engine/internal/store", "engine/internal/wording", "engine/settings", "gateway", "internal/clip", "internal/redact", "internal/wait", "tools", "tools/mcp"}, "asks a person and waits"},
	"engine/internal/command":            {625, []string{"engine/internal/lifecycle", "engine/internal/llm", "engine/internal/locale", "engine/internal/schedule", "engine/internal/store", "engine/settings", "gateway", "internal/clip", "internal/redact", "tools", "tools/mcp"}, "answers slash commands; it sends and stores nothing; voice"},
	"engine/internal/run":                {1250, []string{"engine/internal/jobs", "engine/internal/times", "engine/internal/lifecycle", "engine/internal/llm", "engine/internal/locale", "engine/internal/model", "engine/internal/outbox", "engine/internal/schedule", "engine/internal/store", "engine/internal/turn", "engine/internal/workspace", "engine/settings", "gateway", "internal/clip", "internal/wait", "tools", "tools/job", "tools/rule"}, "makes the runs of jobs, through turns that it is lent"},
	"engine/internal/learn":              {150, []string{"engine/internal/approval", "engine/internal/lifecycle", "engine/internal/locale", "engine/internal/outbox", "engine/internal/store", "engine/settings", "gateway"}, "offers owners the speech model; hears what it could not"},
	"engine/internal/stranger":           {300, []string{"engine/internal/lifecycle", "engine/internal/locale", "engine/internal/outbox", "engine/internal/store", "engine/settings", "gateway", "internal/clip"}, "asks the owners about unknown senders; the web page decides, too"},
	"engine/internal/sentfiles":          {175, []string{"engine/internal/sqlite", "engine/internal/store", "internal/atomicfile"}, "files that wait to be sent"},
	"engine/internal/wording":            {400, []string{"engine/internal/locale", "engine/internal/outbox", "engine/internal/store", "engine/settings", "gateway", "internal/clip", "internal/redact", "tools"}, "what people read of approvals and forms"},
	"engine/internal/metrics":            {150, []string{"engine/internal/store/condition", "engine/health", "engine/internal/llm", "engine/internal/model", "engine/internal/store"}, "counters"},
	"engine/internal/backup":             {325, []string{"engine/internal/store/condition", "engine/health", "engine/internal/archive", "engine/internal/lifecycle", "engine/internal/locale", "engine/internal/outbox", "engine/internal/store", "engine/settings", "gateway", "internal/wait"}, "makes backups, watches the database"},
	"engine/internal/turn":               {1340, []string{"engine/internal/approval", "engine/internal/command", "engine/internal/corememory", "engine/internal/lifecycle", "engine/internal/llm", "engine/internal/locale", "engine/internal/model", "engine/internal/outbox", "engine/internal/progress", "engine/internal/prompt", "engine/internal/schedule", "engine/internal/store", "engine/internal/toolset", "engine/settings", "gateway", "internal/redact", "tools", "tools/find", "tools/job", "tools/injection"}, "the model loop, its journal, whole answers; waits for files, shows pictures of tools; keeps files without a model; no tool for a chat that was removed; says which file is read"},
	"cmd/klawbot/internal/keys":          {1020, []string{"tools/near"}, "knows no key of klawbot; names the unset variable of a wrong value; merge keys, which were dropped in silence"},
	"engine/internal/llm/speech":         {2580, []string{"engine/internal/llm"}, "reads the text of models: words, thinking and calls, by the shapes of all families; calls with labels and in tags named after a tool; channels without tokens, citations, braces too few; calls as functions, calls without their end, which people read; and 25 for arguments without names, and names that begin like a channel"},
	"engine/internal/localmodel":         {1630, []string{"engine/internal/embed", "engine/internal/llm", "engine/internal/llm/openai", "engine/internal/sqlite", "internal/atomicfile", "internal/wait", "tools/sandbox"}, "runs llama-server for one model, and downloads both; starts after a late download; measures its speed, and stays loaded where a prefix is lost; reads how large a GGUF file has to be; and 15 to say which download is wrong; a signal before the kill, the memory of a container; the end of what a killed bot left on macOS"},
	"cmd/klawbot/internal/tty":           {900, []string{"cmd/klawbot/internal/terminal", "gateway", "gateway/console", "gateway/telegram/markdown"}, "the chat in a real terminal; prints in order, a screen at a time; searches the history; says which tool runs; stops for a shell, completes names"},
}

// home says which packages may import a library, and why more than one.
//
// Two pairs look alike, and each needs both. go.yaml.in/yaml reads the
// configuration as nodes with their lines and bounds what aliases unfold;
// goccy/go-yaml knows where every value of the text begins and ends, which an edit
// that keeps comments needs. They read some texts in different ways
// (1e3, 2001-01-01), so the one that edits must not decide what a value means. And
// google/jsonschema-go, which the MCP SDK brings along anyway, makes schemas from Go
// types, but says what is wrong with a value in one text; santhosh-tekuri/jsonschema
// says it in parts, from which a model gets told what to mend.
var home = map[string][]string{
	"github.com/aws/aws-sdk-go-v2":                 {"cmd/klawbot/internal/standby"}, // signs requests to a bucket
	"github.com/go-telegram/bot":                   {"gateway/telegram"},
	"charm.land/bubbletea":                         {"cmd/klawbot/internal/tty"},                                                           // the terminal: keys, redrawing, paste
	"charm.land/bubbles":                           {"cmd/klawbot/internal/tty"},                                                           // the editor of lines
	"github.com/charmbracelet/x":                   {"cmd/klawbot/internal/tty"},                                                           // breaks styled lines; Bubble Tea brings it
	"github.com/yuin/goldmark":                     {"gateway/telegram/markdown", "gateway/web/markdown"},                                  // messages; pages
	"github.com/mattn/go-sqlite3":                  {"engine/internal/sqlite", "engine/internal/store", "engine/internal/store/condition"}, // opens files; reads the codes of errors
	"github.com/asg017/sqlite-vec-go-bindings":     {"engine/internal/sqlite"},
	"github.com/go-co-op/gocron":                   {"engine/internal/jobs"},
	"github.com/gofrs/flock":                       {"engine/internal/sqlite"},
	"github.com/tmaxmax/go-sse":                    {"engine/internal/llm/protocol"},
	"github.com/google/go-cmp":                     {"engine/internal/llm/llmtest"},
	"github.com/google/jsonschema-go":              {"tools/params"},
	"github.com/modelcontextprotocol/go-sdk":       {"tools/mcp", "tools/mcp/signin"},
	"golang.org/x/oauth2":                          {"tools/mcp/signin"},
	"github.com/santhosh-tekuri/jsonschema":        {"tools/params"},
	"github.com/knadh/koanf":                       {"cmd/klawbot/internal/config"},
	"rsc.io/qr":                                    {"cmd/klawbot/internal/setup"}, // the code of the bot's address
	"github.com/spf13/cobra":                       {"cmd/klawbot"},
	"github.com/spf13/pflag":                       {"cmd/klawbot"},
	"github.com/goccy/go-yaml":                     {"cmd/klawbot/internal/yamledit"},
	"go.yaml.in/yaml":                              {"cmd/klawbot/internal/config", "cmd/klawbot/internal/keys", "engine/internal/workspace"}, // the configuration; the heads of skills
	"github.com/fsnotify/fsnotify":                 {"cmd/klawbot/internal/config"},
	"github.com/teambition/rrule-go":               {"engine/internal/times"},
	"github.com/rivo/uniseg":                       {"gateway/telegram/markdown", "engine/internal/embed", "internal/clip", "tools/terminal", "engine/internal/terms"}, // lengths of texts; characters of several code points; emoji
	"golang.org/x/term":                            {"cmd/klawbot/internal/terminal"},
	"github.com/gogs/chardet":                      {"tools/charset"},
	"codeberg.org/readeck/go-readability":          {"tools/web/page"},
	"github.com/JohannesKaufmann/html-to-markdown": {"tools/web/page"},
	"github.com/andybalholm/cascadia":              {"tools/web/page"},
	"github.com/chromedp":                          {"tools/web/browser"},
	"mvdan.cc/sh":                                  {"tools/exec/command"},
	"golang.org/x/net":                             {"internal/httpclient", "internal/dnstest", "tools/charset", "tools/web", "tools/web/page", "tools/sandbox/seccomp"}, // names of hosts; DNS; headers and alphabets; pages; programs of the kernel's filter
	"golang.org/x/image":                           {"engine/internal/picture"},                                                                                          // scaling, and WebP
	"golang.org/x/time":                            {"gateway/telegram"},
	"golang.org/x/sync":                            {"gateway", "gateway/telegram", "engine", "engine/internal/turn", "cmd/klawbot/internal/bot", "cmd/klawbot/internal/terminal", "cmd/klawbot/internal/tty"}, // the way goroutines are waited for
	"golang.org/x/text":                            {"engine/internal/embed", "engine/internal/terms", "tools/injection", "tools/file", "tools/file/match", "tools/file/text"},                                 // each normalises its texts
	"github.com/kljensen/snowball":                 {"engine/internal/terms"},
	"github.com/yalue/onnxruntime_go":              {"engine/internal/onnx", "engine/internal/embed", "engine/internal/transcribe", "engine/internal/voice"}, // loads the library; each model has its own inputs
	"github.com/pion/opus":                         {"engine/internal/sound"},
	"github.com/hajimehoshi/go-mp3":                {"engine/internal/sound"},
	"github.com/mewkiz/flac":                       {"engine/internal/sound"},
	"github.com/VictoriaMetrics/metrics":           {"engine/internal/metrics"},
	"golang.org/x/sys":                             {"engine/internal/sqlite", "internal/llamatest", "tools/sandbox", "tools/sandbox/seccomp", "cmd/klawbot/internal/bot", "cmd/klawbot/internal/tty"}, // each its own system calls
	"github.com/landlock-lsm/go-landlock":          {"tools/sandbox"},
	"github.com/elastic/go-seccomp-bpf":            {"tools/sandbox/seccomp"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "../../...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 15 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

func TestImports(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "klawbot/")
		r, ok := allowed[name]
		if !ok {
			t.Errorf("package %s has no row in the table of allowed imports", name)
			continue
		}
		for _, imp := range p.Imports {
			if ours, is := strings.CutPrefix(imp, "klawbot/"); is {
				if !matches(r.imports, ours) {
					t.Errorf("%s (%s) may not import %s", name, r.why, ours)
				}
				continue
			}
			if imp == "html/template" || imp == "text/template" {
				t.Errorf("%s imports %s, which keeps all exported methods in the program, 4 MB; use gateway/web/html", name, imp)
			}
			if !strings.Contains(strings.Split(imp, "/")[0], ".") {
				continue
			}
			checkHome(t, name, imp)
		}
	}
}

func checkHome(t *testing.T, name, imp string) {
	t.Helper()
	for library, homes := range home {
		if imp == library || strings.HasPrefix(imp, library+"/") {
			if !slices.Contains(homes, name) {
				t.Errorf("%s imports %s, whose home is %v", name, imp, homes)
			}
			return
		}
	}
	t.Errorf("%s imports %s, which has no home in the table", name, imp)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if prefix, tree := strings.CutSuffix(p, "..."); p == name || tree && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
