// Package tools says what a tool is, and holds the pipeline that every call passes:
// find, validate, pre-check, policy, approve, journal, sandbox, run, capture, journal.
//
// A tool is data (Spec) and a function. It returns no Go error: a failure is a Result
// that tells the model what to do. Only the Executor calls a tool's Run. The families of
// tools live in sub-packages and declare what they need from the engine as interfaces.
package tools

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"klawbot/tools/choice"
)

// Tool is one thing that the model can do.
type Tool interface {
	// Spec describes the tool. It is constant.
	Spec() Spec
	// Run does it, with arguments that are validated and have their defaults. It returns
	// soon after ctx ends. The Executor fills in CallID, Duration and the cap on Output.
	Run(ctx context.Context, c Call) Result
}

// Group is a family of tools that a policy can name.
type Group string

// The groups of tools.
const (
	GroupRuntime Group = "runtime"
	GroupFiles   Group = "fs"
	GroupNet     Group = "net"
	GroupBrowser Group = "browser"
	GroupMemory  Group = "memory"
	GroupSystem  Group = "system"
	GroupMessage Group = "message"
)

// Spec describes a tool: what the model is shown, what is validated and what the
// documentation says.
type Spec struct {
	// Name is the canonical name, the only one that models are shown.
	Name string
	// Aliases are names of other systems that are accepted for the tool.
	Aliases []Alias
	Group   Group
	// Server is where the tool belongs to, zero for ours and those of plugins.
	Server Server
	// Changes says that a call changes something outside the turn. Such a
	// call is never repeated when it is unknown whether it happened.
	Changes bool
	// ChangesWhen, if not nil, says which calls of a tool with Changes change
	// something. It gets validated arguments and only checks them.
	ChangesWhen func(arguments json.RawMessage) bool
	// RequiresApproval requires approval for a call that changes something, or for any
	// call when the tool has no Changes.
	RequiresApproval bool
	// Dangerous says that a call can do lasting harm. The approval request says so.
	Dangerous bool
	// Outside says that the results hold text of files, programs, pages or servers. It is
	// screened for injections and handed to the model as data, with its origin.
	Outside bool
	// Keeps are the parameters whose text a model reads later, such as a memory. Text
	// that may come from outside is screened.
	Keeps []string
	// Unavailable, if not nil, says why the tool cannot work now, such as a program that is
	// missing; "" when it can. Such a tool is not shown, and a call is refused with the
	// reason. It must be quick.
	Unavailable func() string
	// PreValidate, if not nil, may refuse a call before approval: it returns why, or
	// nil. It gets validated arguments and has no effect.
	PreValidate func(c Call, a Autonomy) *Result
	// Permit, if not nil, is the tool's own decision: the stricter of it and the policy
	// wins. It gets validated arguments and has no effect; it may read live settings. A
	// panic denies.
	Permit func(c Call, a Autonomy) Decision
	// Watch, if not nil, identifies what a call may depend on besides Decision.Binds and is
	// slow to check, such as all files that it could run. It is compared at the approval
	// and before the call runs. Empty: nothing is watched; tooMany: it is too much.
	Watch func(c Call) (state string, tooMany bool)
	// Unconfined, if not nil, says that calls act with the rights of the bot, outside any
	// sandbox: only owners approve them, unless Policy.AnyoneApproves. It must be quick.
	Unconfined func() bool
	// Atomic says that the call's effects (Outgoing) happen in the transaction that stores
	// its Result: without a stored result the call may be repeated.
	Atomic bool
	// Timeout is the tool's deadline; 0 means 30 s.
	Timeout time.Duration
	// TimeoutOf, if not nil, is the deadline of one call; 0 means Timeout. It
	// gets validated arguments. More than MaxTimeout is cut to that.
	TimeoutOf func(arguments json.RawMessage) time.Duration
	// Texts are what a model is shown, by language ("en", "ru"). English is always there.
	Texts map[string]Text
	// Arguments are other names of parameters: alias to canonical name. Names
	// that are joined by commas take the elements of an array one by one.
	Arguments map[string]string
}

// Server is a server of tools.
type Server struct {
	// Name is the owner's for it. Always has its tools shown like ours for every day.
	Name   string
	Always bool
}

// MostAlways is how many tools a server may have that are always shown.
const MostAlways = 8

// Alters reports whether a call with these arguments changes something. A
// ChangesWhen that breaks counts as yes.
func (s Spec) Alters(arguments json.RawMessage) (yes bool) {
	if !s.Changes || s.ChangesWhen == nil {
		return s.Changes
	}
	defer func() {
		if recover() != nil {
			yes = true
		}
	}()
	return s.ChangesWhen(arguments)
}

// missing says why the tool cannot work now, "" when it can.
func (s Spec) missing() string {
	if s.Unavailable == nil {
		return ""
	}
	return s.Unavailable()
}

// Text is what a model is shown of a tool in one language.
type Text struct {
	Description string
	// Parameters is a JSON Schema of an object, with a type and a description for every
	// property. The languages differ only in the descriptions.
	Parameters json.RawMessage
	// Short and ShortParameters are the same in few words: no example, and without the
	// parameters that are rarely given. Empty for tools that are not ours; see find.Brief.
	Short           string
	ShortParameters json.RawMessage
	// Words are those by which people ask for the tool in the language.
	Words choice.Words
	// Keywords are the words of all that, nil for tools that are not ours: to read them
	// takes longer than to compare them, and each message is compared.
	Keywords choice.Keywords
}

// Text returns the text in a language, or the English one when there is none.
func (s Spec) Text(language string) Text {
	if t, ok := s.Texts[language]; ok {
		return t
	}
	return s.Texts[English]
}

// English is the language that every tool has a text in.
const English = "en"

// Languages are the languages that our own tools are described in.
func Languages() []string { return []string{English, "ru"} }

// Alias is another name of a tool, perhaps with arguments set in advance.
type Alias struct {
	Name   string
	Preset map[string]any
	// Route, if not nil, says which tool a call by this name means, by its arguments, which
	// it may change. All tools of the alias have the same Route.
	Route func(c Call, arguments map[string]any) (name string)
}

// Origin says who caused a call.
type Origin string

// The origins of calls.
const (
	OriginPerson   Origin = "person"
	OriginSchedule Origin = "schedule"
	OriginSubagent Origin = "subagent"
)

// Call is one call of a tool. A tool gets what it needs from here and from its
// constructor, never from the context.
type Call struct {
	// ID is klawbot's and unique; the model's own id may not be.
	ID string
	// Name is as the model wrote it; Run sees the canonical one.
	Name      string
	Arguments json.RawMessage
	// Chat is the text form of the chat that the turn belongs to
	// ("telegram_123"), Thread its topic. Empty outside chats.
	Chat   string
	Thread int64
	// User is the id of the person who asks, 0 for none.
	User   int64
	Origin Origin
	// Owner says that an owner of the bot causes the call: a person who is one,
	// a job that one made, or the command line.
	Owner bool
	// Session and Turn are the engine's row ids, 0 at the command line.
	Session, Turn int64
	// Shown are the names of the tools that the model sees.
	Shown []string
	// Heard says that the turn has read untrusted content before this call, so that
	// what the call keeps may come from there.
	Heard bool
	// Others says that the conversation holds text of people who are not owners.
	Others bool
	// Within is what the run that started this one may do, nil without one: a call may
	// never do more.
	Within *Scope
	// Approver asks a person. Without one, a call that needs approval is refused.
	Approver Approver
	// Changelog is told of each change of a file before it is made; nil: no file is changed.
	Changelog Changelog
	// Progress, if not nil, shows the chat how far a slow call is, in no language
	// ("2.1 MiB"). It never shows what a model or a server said, and returns at once.
	Progress func(note string)
	// Decided is the decision of the policy, for Run: with the verdict Ask, a person has
	// approved. The Executor sets it.
	Decided Decision
	// scratch is set by the Executor while the tool runs; see Scratch.
	scratch *scratch
}

// ErrorKind classifies what went wrong.
type ErrorKind string

// The kinds of errors.
const (
	NotFound       ErrorKind = "not_found"
	Validation     ErrorKind = "validation_error"
	PolicyDenied   ErrorKind = "policy_denied"
	ApprovalDenied ErrorKind = "approval_denied"
	Timeout        ErrorKind = "timeout"
	Security       ErrorKind = "security"
	Execution      ErrorKind = "execution_error"
)

// Result is the outcome of a call. Its JSON form is stable. Error is never empty when
// Success is false.
type Result struct {
	CallID  string `json:"call_id"`
	Success bool   `json:"success"`
	// Output is what the model reads.
	Output string `json:"output"`
	// Data is the same for programs, if the tool has it.
	Data      json.RawMessage `json:"data,omitempty"`
	Artifacts []Artifact      `json:"artifacts,omitempty"`
	// Images are what the model sees with the result, if it can.
	Images       []Image   `json:"images,omitempty"`
	FilesChanged []string  `json:"files_changed,omitempty"`
	Error        string    `json:"error,omitempty"`
	ErrorKind    ErrorKind `json:"error_kind,omitempty"`
	ExitCode     *int      `json:"exit_code,omitempty"`
	DurationMS   int64     `json:"duration_ms"`
	Truncated    bool      `json:"truncated"`
	// Outgoing are messages that leave in the transaction that stores the
	// result. The tool has checked that they may.
	Outgoing []Outgoing `json:"-"`
	// Source is where the text of a tool with Outside comes from, in a few
	// words: a URL, a path, a server. Empty: only the tool is named.
	Source string `json:"source,omitempty"`
	// Outside is the origin of untrusted content. The Executor sets it.
	Outside *Provenance `json:"outside,omitempty"`
	// Others says that the text may come from people who are not owners.
	Others bool `json:"others,omitempty"`
	// Raw is the source of Output, for a tool that leaves things out (the HTML of a
	// page). It is screened too, and not kept.
	Raw string `json:"-"`
	// Own says that all of Output is the tool's own text, although other calls of it
	// return untrusted content. It is screened all the same.
	Own bool `json:"-"`
}

// Image is a picture for the model, in the bot's store of files.
type Image struct {
	Sum    string `json:"sum"`
	MIME   string `json:"mime"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Label says in a few words what it is, such as "photo inbox/a.jpg".
	Label string `json:"label"`
}

// Artifact is a file that goes to the chat with the turn's answer. The tool writes it
// into the folder of Call.Scratch and puts its path, whole or relative to that folder,
// into the Result. The Executor copies it before the result is stored; Path is the copy
// then.
//
// It must be a regular file of 1 to MaxFileBytes bytes with one name; a call hands over
// ten at most. Output names what cannot be sent. A failed Result may have artifacts too.
type Artifact struct {
	// Name is what people see; the Executor makes it fit. Empty: that of the path.
	Name string `json:"name"`
	// MIME is the type ("image/png"). Empty: the Executor checks the content.
	MIME string `json:"mime"`
	Path string `json:"path"`
}

// Outgoing is a message to a chat, as Markdown.
type Outgoing struct {
	Chat   string
	Thread int64
	Text   string
	// File, if not nil, is a file with the message; Text is its caption then, perhaps empty.
	// Album are several files that are sent as one, in place of File.
	File  *File
	Album []*File
}

// Files are the files of the message.
func (o Outgoing) Files() []*File {
	if o.File != nil {
		return []*File{o.File}
	}
	return o.Album
}

// File is a file on its way to a chat.
type File struct {
	Name string
	// Content is copied and closed by the Executor before the result is stored.
	Content io.ReadCloser
	// Voice, if not 0, is how long it is as a voice message.
	Voice time.Duration
	// As is "file" or "voice" for a file that is shown so, whatever it holds.
	As string
	// MIME and Path are the type and place of the copy. The Executor fills them in.
	MIME, Path string
}

// OK is a successful result that reads as output.
func OK(output string) Result { return Result{Success: true, Output: output} }

// With is the result and the same for programs, as JSON.
func (r Result) With(data any) Result {
	source, err := json.Marshal(data)
	if err != nil {
		return Fail(Execution, err.Error())
	}
	r.Data = source
	return r
}

// Refused is Fail for a step before the call runs, where nil means no refusal.
func Refused(kind ErrorKind, message string) *Result {
	r := Fail(kind, message)
	return &r
}

// Fail is a failed result. The model reads "Error: " and the message, which
// says what to do instead.
func Fail(kind ErrorKind, message string) Result {
	return Result{Output: "Error: " + message, Error: message, ErrorKind: kind}
}
