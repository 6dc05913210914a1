package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rowTest says which test shows that a row of the Telegram tables holds: the
// folder, and the name of a test, the beginning of the name of a subtest or of a
// case in a table, or the file of a story.
type rowTest struct{ dir, name string }

// later is for rows whose part is not in this version: the content of media.
var later = rowTest{}

const (
	inTelegram = "gateway/telegram"
	inMarkdown = "gateway/telegram/markdown"
	inEngine   = "engine"
	inList     = "whitelist"
	inBot      = "cmd/klawbot"
)

// rows are all rows of what the bot does in Telegram: A access, B intake and
// restart, C order and control, D content, E groups, F text, G delivery, H
// commands and buttons, I security and operations.
var rows = map[string][]rowTest{
	"A": {
		{inEngine, "TestAnswerReplacesThePlaceholder"}, {inBot, "TestStrangersReachNothing"}, {inTelegram, "A3 press"},
		{inList, "TestIn"}, {inList, "TestIn"}, {inList, "TestParseID"}, {inTelegram, "A7 anonymous administrator"},
		{inTelegram, "A8 bot"}, {inTelegram, "A9 joined"}, {inEngine, "TestWhitelistIsAskedAgainAtDispatch"},
	},
	"B": {
		{inTelegram, "B1 not stored"}, {inTelegram, "B2 stored but not acknowledged"}, {inBot, "TestKilledAtEveryEdge"},
		{inTelegram, "B4 sent while down"}, {inTelegram, "B5 ids start anew"}, {inTelegram, "B6 unreadable and unknown"},
		{inTelegram, "B7 updates without a message"}, {inTelegram, "B8 storing fails"}, {inTelegram, "B9 other poller"},
		{inTelegram, "B10 webhook is set"}, {inTelegram, "B11 token refused"}, {inTelegram, "B12 black hole"},
		{inTelegram, "B13 network down at start"}, {inBot, "B14-second-process.txtar"}, {inTelegram, "TestB15Webhook"},
	},
	"C": {
		{inEngine, "TestOrderIsKeptPerChatAndChatsRunBesideEachOther"}, {inEngine, "TestStopCancelsTheTurnAndDropsWhatWaits"},
		{inBot, "TestC3StopButtonOfADraft"}, {inEngine, "TestOrderIsKeptPerChatAndChatsRunBesideEachOther"},
		{inTelegram, "C5 typing is shown"}, {inBot, "TestSignalParksTheTurn"}, {inBot, "TestC7LongToolIsNamed"},
	},
	"D": {
		{inEngine, "TestCutTextIsJoined"}, {inBot, "TestD2ForwardAndItsComment"}, {inBot, "TestD3AlbumIsOneTurn"},
		{inTelegram, "D4 photo with caption"}, {inTelegram, "D5 document"}, later, {inBot, "TestD7VoiceIsAnswered"}, {inTelegram, "D8 sticker"},
		{inTelegram, "D9 reply"}, {inBot, "TestD10D11OriginAndFormattingReachTheModel"}, {inBot, "TestD10D11OriginAndFormattingReachTheModel"},
		{inEngine, "TestEditOfWaitingMessageReplacesIt"}, {inTelegram, "D13 pin"}, {inTelegram, "D14 newer than the library"}, {inTelegram, "D15 empty"},
	},
	"E": {
		{inTelegram, "E1 plain message"}, {inTelegram, "E2 mention in any case"}, {inTelegram, "E3 command for another bot"},
		{inTelegram, "E4 respond to all with privacy mode"}, {inTelegram, "E5 topic"}, later, {inTelegram, "E7 chain of replies"},
		{inTelegram, "E8 the topic is gone"}, {inBot, "TestE9MovedGroup"}, {inBot, "TestE10LostChat"},
		{inBot, "TestE11TriggerIsDeleted"}, {inBot, "TestE12ChannelPostIsIgnored"},
	},
	"F": {
		{inMarkdown, "F1 4097"}, {inMarkdown, "TestSplitFence"}, {inMarkdown, "F3 mail"}, {inTelegram, "F4 formatting refused"},
		{inMarkdown, "F5 nested list"}, {inMarkdown, "F6 javascript"}, {inMarkdown, "F7 bad bytes"}, {inMarkdown, "F8 blank"},
		{inMarkdown, "F9 more"}, {inTelegram, "F10 link previews"}, {inTelegram, "F11 "}, {inTelegram, "F12 previews"},
		{inBot, "TestF13Drafts"}, {inBot, "TestF14LongAnswerIsAFile"},
	},
	"G": {
		{inTelegram, "G1 flood: this chat waits"}, {inTelegram, "G2 one chat"}, {inTelegram, "G3 nobody listens"},
		{inBot, "TestG4LostAnswerOfASend"}, {inBot, "TestG5ServerErrors"}, {inEngine, "TestPartThatFailsResumesThere"},
		{inTelegram, "G7 blocked"}, {inTelegram, "G8 "}, {inTelegram, "G9 "},
		{inBot, "TestG10CourtesiesBlockNothing"}, {inBot, "TestG11FailureIsOneSentence"},
	},
	"H": {
		{inTelegram, "H1 press"}, {inEngine, "TestManyTapsDecideOnce"}, {inEngine, "TestUnknownButtonsLoseTheirKeyboard"},
		{inEngine, "TestForeignTapIsRefusedAndLeavesItPending"}, {inBot, "approval.txtar"}, {inTelegram, "H6 inaccessible message"},
		{inEngine, "TestApprovalSurvivesARestart"},
		{inTelegram, "H8 start with payload"}, {inTelegram, "H9 alone"}, {inBot, "TestH10UnknownCommand"}, {inTelegram, "H11 published"},
	},
	"I": {
		{inBot, "TestSecretsAppearNowhere"}, {inTelegram, "I2 health"}, {inTelegram, "I3 logs"}, {inTelegram, "I4 large ids"},
	},
}

// rowCount is how many rows each table has.
var rowCount = map[string]int{"A": 10, "B": 15, "C": 7, "D": 15, "E": 12, "F": 14, "G": 11, "H": 11, "I": 4}

func TestEveryRowHasItsTest(t *testing.T) {
	names := map[string][]string{}
	for _, dir := range []string{inTelegram, inMarkdown, inEngine, inList, inBot} {
		names[dir] = testNames(t, filepath.Join("../..", dir))
	}
	for table, n := range rowCount {
		if len(rows[table]) != n {
			t.Errorf("table %s has %d rows here, want %d", table, len(rows[table]), n)
		}
		for i, r := range rows[table] {
			row := fmt.Sprint(table, i+1)
			if r == later {
				continue
			}
			there := slices.ContainsFunc(names[r.dir], func(name string) bool {
				return name == r.name || strings.Contains(r.name, " ") && strings.HasPrefix(name, r.name)
			})
			if !there {
				t.Errorf("%s: %s has no test %q", row, r.dir, r.name)
			}
		}
	}
}

// testNames are the tests of a folder, the texts in their code, among which are
// the names of subtests, and the stories.
func testNames(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	var names []string
	for _, file := range files {
		if filepath.Base(file) == "rows_test.go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names = append(names, n.Name.Name)
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					names = append(names, text)
				}
			}
			return true
		})
	}
	stories, err := os.ReadDir(filepath.Join(dir, "testdata"))
	for _, s := range stories {
		names = append(names, s.Name())
	}
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return names
}
