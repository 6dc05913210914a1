package protocol

import (
	"regexp"
	"strconv"
	"strings"

	"klawbot/engine/internal/llm"
)

func words(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(patterns, "|"))
}

const (
	// SameRole is the Feature of an error that wants the roles to alternate.
	SameRole = "messages of one role in a row"
	// Deferral is the Feature of an error about tools whose definitions come later.
	Deferral = "deferred tools"
	// Signature is the Feature of an error about thinking that goes back to
	// the model that signed it.
	Signature = "signed thinking"
)

// The words by which providers say what is wrong.
var (
	overflow = words(
		`context_length_exceeded`, `exceed_context_size`, `model_max_prompt_tokens_exceeded`, `request_too_large`,
		`maximum context length`, `context (length|window|size)[^.]{0,40} (exceed|too|limit)`, `context (size|length|window) has been exceeded`,
		`exceed\w* (the |its |max\w* )*(available |model'?s? )?(context|token limit)`, `greater than the context length`,
		`longer than the (model'?s? )?context`, `prompt (is )?too long`, `input (is )?too (long|large)`,
		`input token count.*exceeds`, `exceeded model token limit`, `maximum prompt length`, `reduce the length of the (messages|prompt|input)`,
		`exceeds the (limit|maximum number) of (input )?(tokens|\d+)`, `context window exceeds limit`, `range of input length should be`,
		`too many (input )?tokens`, `too large for model with \d+ maximum`, `token(s)? (limit|count) exceed`,
	)
	quota     = words(`insufficient_quota`, `insufficient_balance`, `billing`, `credit`, `insufficient (balance|funds)`, `exceeded your (current|monthly) (quota|usage|spend)`, `spend(ing)? limit`, `payment required`, `plan (limit|quota)`, `out of (credits|funds)`)
	auth      = words(`invalid[ _]api[ _]key`, `incorrect api key`, `api key not valid`, `api[ _]key[ _]invalid`, `no api key`, `missing api key`, `unauthori[sz]ed`, `authentication`, `invalid[ _]token`, `permission_(denied|error)`)
	refused   = words(`content_filter`, `content[ _]policy`, `content management policy`, `flagged`, `moderation`, `data_inspection_failed`, `safety system`)
	rateLimit = words(`rate[ _]?limit`, `too many requests`, `resource_exhausted`, `tokens per min`)
	invalid   = words(`invalid_request`, `invalid_argument`, `bad_request`, `validation_error`)
	noModel   = words(`model_not_found`, `not_found_error`, `model .{1,100} (not found|does not exist|is not available)`, `no such model`, `unknown model`, `not a valid model`)
	noTools   = words(`(does not|doesn't|not) support(ed)? (tool|function)`, `(tool|function)[ _-]?(use|calls?|calling|choice)?s? (is |are )?not supported`, `tool choice requires`, `no endpoints found that support tool use`)
	noImages  = words(
		`(does not|doesn't|not) support(ed)? (image|vision)`, `image(_url| input)?s? (is |are )?(not supported|only supported)`, `no endpoints found that support image`,
		`unknown variant .?image_url`, `image input (modality )?is not enabled`, `missing data required for image`, `not a multimodal model`, `at most 0 image`,
		`content\W{0,4}(: )?(value )?must be a string`,
	)
	// badImage is about one picture that is too large or cannot be read there, or about
	// one too many.
	badImage = words(
		`image (exceeds|is too (large|big))`, `image[ _](dimensions|size|file|data).{0,40}(exceed|too (large|big)|maximum)`, `(could not|unable to|failed to|cannot) (process|decode|load|read) (the |an |input )*image`,
		`invalid (base64 )?image`, `image_too_large`, `image_parse_error`, `invalid_image`, `at most \d+ image`, `too many images`,
	)
	noSchema   = words(`(parse|parsing|compile|compiling|invalid|initialize) (the )?grammar`, `json schema (conversion|to grammar)`, `invalid schema for function`, `invalid_function_parameters`, `input_schema`, `function_declarations`)
	alternate  = words(`roles must alternate`, `must alternate between`, `consecutive (user )?messages`)
	noParam    = words(`unsupported`, `not supported`, `unknown`, `unrecogni[sz]ed`, `unexpected`, `extra (inputs|fields|parameters)`, `not permitted`, `not allowed`, `does not support`, `may only be set`, `only \S+ is allowed`, `only the default`)
	signature  = words(`invalid .{0,30}signature`, `thinking.{0,60}(cannot be modified|must remain)`)
	deferral   = words(`defer_loading`, `tool_reference`)
	loading    = words(`\bloading\b`, `warming up`, `starting up`)
	overloaded = words(`overloaded`, `server_error`, `api_error`, `internal`, `unavailable`, `timeout`, `timed out`, `capacity`, `try again`, `unexpected eof`, `terminated`, `while running the model`)
)

// params are the parameters that a model may refuse and that we send.
var params = regexp.MustCompile(`max_completion_tokens|max_tokens|stream_options|tool_choice|reasoning_content|reasoning_effort|temperature|top_p|thinking`)

// kind decides what a fault is. A rate limit is asked about before an overflow,
// because its words mention tokens too; the words of an overflow come before
// the status, because many are plain 400s and some are 500s.
func (f Fault) kind() (llm.ErrorKind, string) {
	all := f.code + " " + f.Message
	switch {
	case f.status == 401:
		return llm.Auth, ""
	case f.status != 429 && noImages.MatchString(all): // llama.cpp says so with a 500
		return llm.Unsupported, llm.Images
	case f.status != 429 && badImage.MatchString(all):
		return llm.Unsupported, llm.ImageSize
	case f.status == 402:
		return llm.Quota, ""
	case f.status == 429 || rateLimit.MatchString(f.code) || f.status < 500 && strings.Contains(f.code, "dailylimitexceeded"):
		return f.limited(all), ""
	case f.status == 413 || f.status != 403 && overflow.MatchString(all):
		return llm.ContextOverflow, ""
	case f.status < 500 && quota.MatchString(all):
		return llm.Quota, ""
	case f.status < 500 && refused.MatchString(all):
		return llm.Refused, ""
	case f.status < 500 && auth.MatchString(all):
		return llm.Auth, ""
	case rateLimit.MatchString(all) && f.status == 0:
		return llm.RateLimit, ""
	}
	if noSchema.MatchString(all) { // llama.cpp says so with a 500
		return llm.Unsupported, llm.ToolSchema
	}
	if feature := f.unsupported(all); feature != "" && f.status < 500 {
		return llm.Unsupported, feature
	}
	return f.byStatus(all), ""
}

// limited tells a limit that passes from credit that is used up. An error that says
// how long to wait is about a limit.
func (f Fault) limited(all string) llm.ErrorKind {
	if strings.Contains(f.code, "insufficient") || quota.MatchString(all) && f.wait == 0 && !f.daily {
		return llm.Quota
	}
	return llm.RateLimit
}

func (f Fault) unsupported(all string) string {
	switch {
	case deferral.MatchString(all):
		return Deferral
	case noTools.MatchString(all):
		return "tools"
	case alternate.MatchString(all):
		return SameRole
	case signature.MatchString(all):
		return Signature
	case !noParam.MatchString(all):
		return ""
	case params.MatchString(f.param):
		return f.param
	}
	return params.FindString(f.Message)
}

func (f Fault) byStatus(all string) llm.ErrorKind {
	switch {
	case f.status == 404 || f.status < 500 && noModel.MatchString(all):
		return llm.NotFound
	case f.status == 403:
		return llm.Auth
	case f.status == 408 || f.status == 409 || f.status == 425 || f.status >= 500 && f.status != 501:
		return llm.Overloaded
	case f.status == 0 && !invalid.MatchString(all) && (f.Message == "" || overloaded.MatchString(all) || !noParam.MatchString(all)):
		return llm.Overloaded
	}
	return llm.BadRequest
}

// windows find the size of the context window in words.
var windows = []*regexp.Regexp{
	regexp.MustCompile(`(?i)> (\d{3,9}) maximum`),
	regexp.MustCompile(`(?i)context limit: [\d +]+> (\d{3,9})`),
	regexp.MustCompile(`(?i)(?:context (?:length|size|window)|prompt length|token limit|exceeds the limit)(?: of| is| only|[ :=(])*(\d{3,9})`),
	regexp.MustCompile(`(?i)(\d{3,9}) maximum context length`),
	regexp.MustCompile(`(?i)maximum number of tokens allowed \(?(\d{3,9})`),
	regexp.MustCompile(`(?i)input length should be \[\d+, ?(\d{3,9})`),
}

func statedWindow(message string) int {
	for _, w := range windows {
		if m := w.FindStringSubmatch(message); m != nil {
			n, err := strconv.Atoi(m[1])
			if err == nil {
				return n
			}
		}
	}
	return 0
}
