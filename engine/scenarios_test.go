package engine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// scenarios are the behaviours that the seed systems try of the memory, and the
// tests that try them here: the folder and the test, or the script.
var scenarios = map[string][][2]string{
	"memory_search returns relevant chunks":                  {{".", "TestMemorySearchReturnsRelevantChunks"}},
	"memory_search with topK":                                {{".", "TestMemorySearchWithTopKParameter"}},
	"memory_save stores a chunk and indexes it":              {{".", "TestMemorySaveStoresChunkAndIndexesIt"}},
	"memory_core_get returns the JSON":                       {{".", "TestMemoryCoreGetReturnsCoreMemoryJSON"}},
	"memory_core_update of both sections":                    {{".", "TestMemoryCoreUpdateModifiesUserSection"}, {".", "TestMemoryCoreUpdateModifiesAgentSection"}},
	"memory_core_delete, and of a key that is not there":     {{".", "TestMemoryCoreDeleteRemovesKey"}, {".", "TestMemoryCoreDeleteOnNonExistentKeyReturnsError"}},
	"store, recall, forget":                                  {{".", "TestMemoryStoreRecallForget"}, {"internal/memory", "TestWhatIsForgottenIsFoundByNothing"}},
	"chunker: empty, short, 400 tokens, overlap":             {{"internal/memory", "TestSplit"}, {"internal/memory", "FuzzSplit"}},
	"chunker: code, headings, lists, a very long paragraph":  {{"internal/memory", "TestSplit"}, {"internal/memory", "FuzzSplit"}},
	"RRF: formula, order, one side, both, empty, topK":       {{"internal/memory", "TestReciprocalRankFusion"}},
	"queries with operators, quotes, brackets, Chinese":      {{"internal/memory", "FuzzQuery"}, {"internal/memory", "TestWordsAreFoundInThreeLanguages"}},
	"reindex: order, days, torn lines, counts, progress":     {{"../cmd/klawbot/testdata", "reindex.txtar"}, {"internal/archive", "TestReindexSkipsTornAndMalformedLines"}, {"internal/archive", "TestReindexOfALostDatabase"}, {"internal/archive", "TestReindexWithoutLogs"}, {"internal/archive", "TestReindexTakesTheChatFromTheFolder"}},
	"reindex: killed":                                        {{"../cmd/klawbot", "TestKilledWhileReindexing"}},
	"reindex: vectors of another model, search meanwhile":    {{"internal/memory", "TestAnotherModelTakesOverWhenItsVectorsAreComplete"}},
	"search: of this chat alone":                             {{"internal/memory", "TestAChatFindsItsOwnAndWhatIsShared"}, {".", "TestHistorySearchFindsWhatWasSaidInThisChatAlone"}},
	"reminders: beyond the window, not twice, at most so":    {{".", "TestRecallOfWhatTheWindowDoesNotShow"}, {".", "TestRecallShowsNothingTwice"}, {".", "TestRecallKeepsWithinItsTokens"}},
	"reminders: off, nothing near, of this segment alone":    {{".", "TestNoRecall"}, {".", "TestRecallEndsAtNew"}},
	"reminders: silent when the search fails":                {{".", "TestRecallIsSilentWhenItFails"}},
	"context: core memory, sender, skills, budget":           {{".", "TestCoreMemoryStandsInTheSystemPrompt"}, {".", "TestNewSkillIsInTheNextPrompt"}, {".", "TestManyTurns"}},
	"context: pairs of calls and results, window":            {{".", "TestManyTurns"}, {".", "TestWindowMovesInSteps"}},
	"context: the cached beginning":                          {{".", "TestConsecutiveRequestsBeginAlike"}, {".", "TestWindowMovesInSteps"}},
	"compaction: threshold, off, failures, /new meanwhile":   {{".", "TestCompactionTriggersAtItsShareOfTheBudget"}, {".", "TestNoCompactionWhenItIsOff"}, {".", "TestSummaryThatIsOfNoUseChangesNothing"}, {".", "TestNewWhileASummaryIsMade"}},
	"compaction: overflow of the provider":                   {{".", "TestOverflowMakesTheConversationShorter"}, {".", "TestOverflowThatNothingHelpsIsSaidOnce"}},
	"kill -9 while it saves, reindexes and sums up":          {{"../cmd/klawbot", "TestKilledWhileATurnRemembers"}, {"../cmd/klawbot", "TestKilledWhileRemembering"}, {"../cmd/klawbot", "TestKilledWhileSummingUp"}},
	"core memory: edited by hand, kept by many, USER.md":     {{"internal/corememory", "TestCoreMemoryIsEditedByHand"}, {"internal/corememory", "TestCoreMemoryConcurrentWrites"}, {"internal/corememory", "TestImportUserTakesFactsOnce"}},
	"undo of memories and of the core memory, command lines": {{"../cmd/klawbot/testdata", "memory.txtar"}, {"internal/corememory", "TestCoreMemoryUndo"}},
}

// TestSeedScenariosHaveTheirTests holds the table to the tests that there are.
func TestSeedScenariosHaveTheirTests(t *testing.T) {
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	tests := map[string]map[string]bool{} // by folder
	for scenario, all := range scenarios {
		for _, test := range all {
			folder := test[0]
			if tests[folder] == nil {
				tests[folder] = map[string]bool{}
				files, err := filepath.Glob(filepath.Join(folder, "*"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					tests[folder][filepath.Base(file)] = true
					if match, _ := filepath.Match("*_test.go", filepath.Base(file)); !match {
						continue
					}
					source, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					for _, m := range name.FindAllSubmatch(source, -1) {
						tests[folder][string(m[1])] = true
					}
				}
			}
			if !tests[folder][test[1]] {
				t.Errorf("%s: there is no %s in %s", scenario, test[1], folder)
			}
		}
	}
}
