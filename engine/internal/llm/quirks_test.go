package llm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quirks lists how providers differ, a row for each thing that some provider
// does, and what shows that we put up with it:
//
//	openai          the fixtures of openai/testdata/quirks that begin with the row's number
//	llm/TestX       the test TestX in this package; llm/TestX/case its case
//	openai/TestX    the one in a package below; engine, store, tools and cmd are the ones of those names
//	later: reason   what the row is about is not built yet
var quirks = []struct{ what, shown string }{
	1:  {"comments and keep-alives, also wrapped in data", "openai, anthropic"},
	2:  {"the end of the stream without a reason to stop", "openai, anthropic, ollama, llm/TestAnAnswerCutAtManyBytes"},
	3:  {"[DONE] without a reason to stop", "openai, anthropic"},
	4:  {"a reason to stop without [DONE]", "openai, anthropic"},
	5:  {"[DONE], but the socket stays open", "openai, anthropic, openai/TestStopsReadingAtDone"},
	6:  {"an error object in a stream with status 200", "openai, anthropic, ollama"},
	7:  {"Anthropic's error event in the middle", "openai, anthropic"},
	8:  {"JSON, whole or an error, for a stream", "openai, anthropic, ollama"},
	9:  {"a chunk that is no JSON", "openai, anthropic, ollama"},
	10: {"events in pieces, data in several lines", "openai, llm/TestAnAnswerCutAtManyBytes"},
	11: {"lines over 64 KB", "openai/TestLongLines"},
	12: {"CRLF, data without a space", "openai, anthropic, ollama"},
	13: {"a stream that stalls, or is only kept alive", "openai/TestStalls, anthropic/TestStalls, ollama/TestWaitsForAModelThatLoads"},
	14: {"an empty reason to stop in the middle", "openai"},
	15: {"choices that are null, missing or empty", "openai"},
	16: {"usage that is missing, cumulative or elsewhere", "openai, anthropic, ollama, engine/TestUsageAndCostOfToday"},
	17: {"Anthropic's usage in two events", "anthropic"},
	18: {"wrong JSON types", "openai, anthropic, ollama"},
	19: {"content as a list of parts", "openai"},
	20: {"errors as object, text, list, web page, nothing", "openai, anthropic"},
	21: {"calls without an index", "openai"},
	22: {"one index for several calls", "openai, ollama"},
	23: {"an index that starts at 1 or has gaps", "openai, anthropic"},
	24: {"id and name in every piece", "openai"},
	25: {"no id", "openai, ollama"},
	26: {"one id for several calls", "openai, ollama, openai/TestAConversationAsAStrictServerTakesIt"},
	27: {"ids that want to be echoed", "openai, anthropic/TestForeignThinkingAndIDsStayAtHome"},
	28: {"ids of a certain form", "protocol/TestIDs, llm/TestNormalizeForgetsForeignIDs"},
	29: {"no arguments", "openai, anthropic"},
	30: {"arguments that are no JSON, or no object", "openai, anthropic, ollama, llm/TestNormalize/arguments that are no object"},
	31: {"arguments as an object", "openai, anthropic, ollama"},
	32: {"a call that the token limit cut", "openai, anthropic, ollama"},
	33: {"the reason stop beside calls", "openai, anthropic"},
	34: {"the reason tool_calls without calls", "openai, anthropic"},
	35: {"other reasons to stop", "openai, anthropic"},
	36: {"illegal and long names of MCP tools", "later: they come with MCP"},
	37: {"names with prefixes", "openai, anthropic, ollama"},
	38: {"an empty name", "openai, anthropic, ollama"},
	39: {"calls printed as text", "openai, ollama"},
	40: {"\"5\" for a number", "tools/TestArgumentsAreFixed"},
	41: {"results of one round in one message for Anthropic", "anthropic/TestAConversationAsAStrictServerTakesIt"},
	42: {"images in results", "llm/TestPicturesOnTheWire"},
	43: {"an empty result", "llm/TestNormalize/empty result"},
	44: {"a result without its call", "llm/TestNormalize/orphan result after a cut, llm/FuzzNormalize"},
	45: {"a call without its result", "llm/TestNormalize/missing result, engine/TestStopOfTheProcessParksTheTurnAndTheNextOneResumesIt"},
	46: {"an answer that failed, replayed", "store/TestHistory"},
	47: {"an empty message of the assistant", "llm/TestNormalize/empty assistant"},
	48: {"no words beside calls: null, \"\" or no key", "openai/TestEncodesWhatAProviderWants"},
	49: {"a list of parts for the assistant's text", "openai/TestAConversationAsAStrictServerTakesIt"},
	50: {"one role twice", "llm/TestNormalize/two users, two assistants, openai/TestRolesThatMustAlternateAreLearned"},
	51: {"a second or late system message", "openai/TestAConversationAsAStrictServerTakesIt"},
	52: {"no message of a user", "llm/TestNormalize/no user at all"},
	53: {"a user right after a result", "llm/TestNormalize/bridge"},
	54: {"the role developer", "openai/TestAConversationAsAStrictServerTakesIt"},
	55: {"no tools beside a history with calls", "openai/TestEncodesWhatAProviderWants, anthropic/TestForeignThinkingAndIDsStayAtHome"},
	56: {"half an emoji", "llm/TestNormalize/half an emoji in arguments, llm/TestNormalize/invalid UTF-8"},
	57: {"blank texts and trailing white space for Anthropic", "anthropic, anthropic/TestForeignThinkingAndIDsStayAtHome"},
	58: {"more than four cache marks", "anthropic/TestAConversationAsAStrictServerTakesIt"},
	59: {"names of the field for thinking", "openai, ollama"},
	60: {"thinking that must come back with calls", "openai/TestEncodesWhatAProviderWants, llm/TestNormalize/own thinking of a tool turn"},
	61: {"thinking that must not be empty", "openai/TestEncodesWhatAProviderWants"},
	62: {"thinking that must not come back", "openai/TestEncodesWhatAProviderWants"},
	63: {"thinking left out of the count", "llm/TestEstimateRequestCountsEverything"},
	64: {"signatures, also of hidden thinking", "anthropic, anthropic/TestAConversationAsAStrictServerTakesIt"},
	65: {"redacted thinking", "anthropic, anthropic/TestAConversationAsAStrictServerTakesIt"},
	66: {"a blob at a call that must come back", "openai, openai/TestEncodesWhatAProviderWants"},
	67: {"thinking of another model", "llm/TestNormalize/foreign thinking, anthropic/TestForeignThinkingAndIDsStayAtHome, engine/TestATurnStaysWithTheModelThatAnswered"},
	68: {"tags of thinking in the text", "openai, ollama, speech/FuzzSpeech"},
	69: {"thinking without words", "openai, ollama, engine/TestFailureIsOnePlainSentence"},
	70: {"an empty answer", "openai, anthropic, ollama, engine/TestFailureIsOnePlainSentence"},
	71: {"a temperature that is refused", "openai, anthropic, ollama, anthropic/TestThinkingFitsTheAnswer"},
	72: {"max_tokens or max_completion_tokens", "openai, openai/TestLearnsWhatAModelRefuses"},
	73: {"switches for thinking", "openai/TestOverrideKeepsTheRest, ollama/TestAConversationAsAStrictServerTakesIt"},
	74: {"a budget for thinking above the limit", "anthropic/TestThinkingFitsTheAnswer"},
	75: {"Gemini's schemas", "protocol/TestSchemaDialects, protocol/FuzzSchema"},
	76: {"OpenAI's schemas", "protocol/TestSchemaDialects"},
	77: {"schemas as a grammar in llama.cpp", "openai, protocol/TestSchemaDialects, openai/TestSchemasSuitTheEndpoint, openai/TestAsksAgainWithPlainerSchemas, engine/TestAToolThatAServerCannotReadIsLeftOut"},
	78: {"[\"null\",\"array\"] in generated schemas", "protocol/TestSchemaDialects, tools/TestSchemaOfStruct"},
	79: {"a model without tools", "openai, ollama, ollama/TestAsksOnceWhatAModelCan, engine/TestAModelWithoutToolsAnswersWithoutThem"},
	80: {"tool_choice auto is refused", "openai"},
	81: {"Ollama's silent cut of the request", "ollama/TestASilentCutIsNoticed, ollama/TestTheWindowIsTheConfiguredOne, engine/TestACutRequestIsTold"},
	82: {"the words for a request that is too long", "openai, anthropic, ollama"},
	83: {"the window of a slot", "probe/TestDetectLocal"},
	84: {"request and answer above the window", "anthropic, config/TestFaultsThatNeedSeveralKeys, engine/TestAFallbackWithASmallerWindowGetsLess"},
	85: {"a full window as the reason to stop", "openai, anthropic"},
	86: {"a rate limit that looks like a request that is too long", "openai"},
	87: {"quota or rate, and waits of days", "openai, anthropic, llm/TestRetry/asks to wait too long, llm/TestRetryAfterIsHonoured, engine/TestAnotherModelAnswersAndThePersonIsToldOnce"},
	88: {"529, 408, 409, 52x, x-should-retry", "openai, anthropic, ollama"},
	89: {"pauses and refusals", "openai, anthropic, anthropic/TestGivesUpAnAnswerThatPausesForEver"},
	90: {"an image that is too big", "llm/TestRefusalsOfPictures, model/TestPictureThatIsTooLargeIsLeftOut"},
	91: {"a model without images", "openai, llm/TestRefusalsOfPictures, model/TestModelWithoutVision"},
	92: {"connections that break", "openai/TestErrorsHideTheKeyAndTheAddress, openai/TestFaultsOfTheNetwork, anthropic/TestFaultsOfTheNetwork, ollama/TestFaultsOfTheNetwork"},
	93: {"a model that is being loaded", "openai, ollama, llm/TestRetryWaitsWhileAModelLoads, ollama/TestWaitsForAModelThatLoads, engine/TestALoadingModelIsWaitedForVisibly"},
}

// folders are where the tests of a name are.
var folders = map[string]string{
	"llm": ".", "model": "../model", "openai": "openai", "anthropic": "anthropic", "ollama": "ollama", "protocol": "protocol", "speech": "speech",
	"store": "../store", "engine": "../..", "tools": "../../../tools", "probe": "../../probe", "config": "../../../cmd/klawbot/internal/config",
}

// TestEveryQuirkIsShown fails when a row names a fixture or a test that is not
// there, or none, and when a fixture has no row.
func TestEveryQuirkIsShown(t *testing.T) {
	used := map[string]bool{}
	for n, q := range quirks {
		if n == 0 {
			continue
		}
		if q.what == "" || q.shown == "" {
			t.Errorf("row %d is empty", n)
		}
		if strings.HasPrefix(q.shown, "later: ") {
			continue
		}
		for _, shown := range splitShown(q.shown) {
			place, test, isTest := strings.Cut(shown, "/")
			if !isTest {
				used[fmt.Sprintf("%s/%02d", place, n)] = true
			} else if !hasTest(t, folders[place], test) {
				t.Errorf("row %d: there is no test %s", n, shown)
			}
		}
	}
	if len(quirks) != 94 {
		t.Errorf("%d rows", len(quirks)-1)
	}
	checkFixtures(t, used)
}

var nextShown = regexp.MustCompile(`, (openai|anthropic|ollama|[a-z]+/(?:Test|Fuzz))`)

// splitShown parts a list at its commas; cases of tests may hold commas too.
func splitShown(list string) []string {
	return strings.Split(nextShown.ReplaceAllString(list, "\n$1"), "\n")
}

// checkFixtures compares the fixtures that rows name with those that are there.
// Number 00 is for what is no quirk.
func checkFixtures(t *testing.T, used map[string]bool) {
	t.Helper()
	there := map[string]bool{}
	for _, place := range []string{"openai", "anthropic", "ollama"} {
		files, err := filepath.Glob(place + "/testdata/quirks/*.want")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			number, _, _ := strings.Cut(filepath.Base(file), "-")
			there[place+"/"+number] = true
			if key := place + "/" + number; number != "00" && !used[key] {
				t.Errorf("no row names the fixtures of %s", key)
				used[key] = true
			}
		}
	}
	for key := range used {
		if !there[key] {
			t.Errorf("there are no fixtures for %s", key)
		}
	}
}

// hasTest reports whether a folder has a test, and in its text the case.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	test, of, isCase := strings.Cut(name, "/")
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || dir == "" {
		t.Fatal(dir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(") && (!isCase || strings.Contains(string(text), `"`+of+`"`)) {
			return true
		}
	}
	return false
}
