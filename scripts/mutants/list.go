package main

// mutant is a guard that is taken away, and the test that must notice.
type mutant struct {
	file string
	// old stands in the file exactly once; new takes its place.
	old, new string
	// run names the tests of the file's package, as go test -run does.
	run string
}

// mutants are the guards whose loss would hurt most, at most 46. The first of
// each kind come first, because CI runs only the beginning.
var mutants = []mutant{
	{
		"tools/file/path.go", `if !filepath.IsLocal(name) {`, `if name == "" {`,
		"TestScenariosOfKlaw",
	},
	{
		"tools/file/swap.go", `return 0, refuse(tools.Execution, "the change could not be recorded, so nothing was changed: %v", err)`, `return 0, nil`,
		"TestAChangeThatIsNotRecordedIsNotMade",
	},
	{
		"gateway/gateway.go", `if err := g.Allowed(u); err != nil {`, `if err := g.Allowed(u); err != nil && u.Bot < 0 {`,
		"TestStrangersStayOutAndAreLoggedOnceAMinute",
	},
	{
		"tools/capture.go", `return p.redact.Text(strings.ToValidUTF8(text, "\uFFFD"))`, `return strings.ToValidUTF8(text, "\uFFFD")`,
		"TestSecretsAreTakenOut",
	},
	{
		"engine/attempt.go", `if o.Resent > 0 {`, `if o.Resent > 9 {`,
		"TestDeliveryOutcomes",
	},
	{
		"tools/file/open.go", `if linked(info) && !f.hardlinks() && !protected(p.name) {`, `if linked(info) && p.name == "" {`,
		"TestHardlinks",
	},
	{
		"tools/file/snapshot.go", `if linked(info) && !f.hardlinks() {`, `if linked(info) && leaf == "" {`,
		"TestUndoGivesNothingAwayOfAHardLink",
	},
	{
		"tools/file/alter.go", `case protected(p.shown) || protected(p.name):`, `case protected(p.shown):`,
		"TestGitIsNeverWritten",
	},
	{
		"tools/file/swap.go", `if !same {`, `if !same && s.leaf == "" {`,
		"TestWhoIsFasterWins",
	},
	{
		"tools/file/revert.go", `if c.After != u.state && c.Before != u.state {`, `if c.Path == "" {`,
		"TestUndoLeavesWhatOthersChanged",
	},
	{
		"gateway/gateway.go", `return nil, &SendError{Kind: Refused, Err: err}`, `return g.byName[to.Chat.Channel], nil`,
		"TestNothingLeavesForAChatThatIsNotListed",
	},
	{
		"engine/attempt.go", `if o.Resent >= limit || d.e.settings().HoldAmbiguous {`, `if o.Resent >= limit {`,
		"TestDeliveryOutcomes",
	},
	{
		"cmd/klawbot/settable.go", `if !settable(path) {`, `if len(path) == 0 {`,
		"TestProofLooksAtWhatTheTextsMean",
	},
	{
		"cmd/klawbot/keeper.go", `case strings.Contains(value, "${"):`, `case strings.Contains(value, "$${"):`,
		"TestConfigRefusals",
	},
	{
		"tools/message/file.go", `if err := m.door.Check(ctx, chat); err != nil {`, `if err := m.door.Check(ctx, c.Chat); err != nil {`,
		"TestSendFile",
	},
	{
		"engine/internal/workspace/shelf.go", `if err == nil && s.source == SourceWorkspace && linked(info) {`, `if err == nil && s.source == "" && linked(info) {`,
		"TestSkillsStayInTheirFolder",
	},
	{
		"tools/self/self.go", `case len(runes) < long:`, `case len(runes) < shown:`,
		"TestMaskShortAndLongKeys",
	},
	{
		"engine/press.go", `return m.Sender.ID != 0 && m.Sender.ID == a.Sender || e.owns(m)`, `return m.Sender.ID != 0`,
		"TestForeignTapIsRefusedAndLeavesItPending",
	},
	{
		"engine/press.go", `return err == nil && (!known || asked.MessageID == it.msg.Press.Message), err`, `return err == nil && (known || !known), err`,
		"TestForeignTapIsRefusedAndLeavesItPending",
	},
	{
		"engine/internal/store/approval.go", "WHERE id = ? AND state = 'pending'`", "WHERE id = ?`",
		"TestTapsResolveOnce",
	},
	{
		"tools/policy.go", `case s.in(l.Deny):`, `case s.Name == "" && s.in(l.Deny):`,
		"TestPolicyDecisions",
	},
	{
		"tools/decide.go", `if s.autonomy == ReadOnly && alters {`, `if s.autonomy == ReadOnly && alters && spec.Name == "" {`,
		"TestPolicyDecisions",
	},
	{
		"tools/approve.go", `if r := e.policy(p); r != nil {`, `if r := e.policy(p); r != nil && p.spec.Name == "" {`,
		"TestPolicyIsAskedAgainAfterTheApproval",
	},
	{
		"tools/show.go", `case !hidden(r):`, `case !hidden(r) || r > 0x7F:`,
		"TestShownArgumentsHideNothing",
	},
	{
		"tools/decide.go", `if own.Verdict.strictness() >= d.Verdict.strictness() {`, `if own.Verdict == Allow {`,
		"TestStrictestOfTheToolsWordAndThePolicyWins",
	},
	{
		"tools/approve.go", `if p.decision.Binds != asked.Binds {`, `if p.decision.Binds == "" && asked.Binds != "" {`,
		"TestApprovalHoldsForWhatTheCallDependsOnAlone",
	},
	{
		"tools/exec/command/plain.go", `if strings.Contains(text, "#") && commented(file) {`, `if text == "" && commented(file) {`,
		"TestNotPlain",
	},
	{
		"tools/exec/command/grant.go", `return anyFree`, `return anyFree && c.piped`,
		"TestAStarGrantsNoOtherProgram",
	},
	{
		"tools/exec/shell_look.go", `if line.Blocked != "" {`, `if line.Blocked == "it" {`,
		"TestPreValidateShellByAutonomy",
	},
	{
		"tools/exec/shell_run.go", `case v.mode != ModeFull && d.Verdict != tools.Ask:`, `case v.mode != ModeFull && d.Verdict == tools.Deny:`,
		"TestWhatIsDecidedIsWhatRuns",
	},
	{
		"tools/exec/shell_plan.go", `if !filepath.IsAbs(dir) || err != nil || worldWritable(real) {`, `if dir == "" && err != nil {`,
		"TestEnvironmentOfCommands",
	},
	{
		"tools/outside.go", `v := worst(r.Output, r.Error, r.Raw, string(r.Data), r.Source)`, `v := worst(head(r.Output, 1000))`,
		"TestInjectionsAreWithheld",
	},
	{
		"tools/outside.go", `case v.Level == screen.Block:`, `case v.Level > screen.Block:`,
		"TestWritesThatMayComeFromOutsideAreScreened",
	},
	{
		"tools/exec/git_repository.go", `case sub != "" && !inside && section != "color" && section != "advice", !gitSafeKeys.MatchString(plain):`, `case sub == "!" && inside && !gitSafeKeys.MatchString(plain):`,
		"TestGitRunsNothingOfTheRepository",
	},
	{
		"tools/exec/git_parse.go", `case strings.HasPrefix(o, "+"):`, `case o == "+":`,
		"TestGitScenarios",
	},
	{
		"internal/httpclient/guard.go", `if err := g.control(host, number); err != nil {`, `if err := g.control(host, number); err != nil && host == "" {`,
		"TestURLs|TestRebinding",
	},
	{
		"internal/httpclient/httpclient.go", `func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }`, `func stay(_ *http.Request, via []*http.Request) error { if len(via) > 3 { return http.ErrUseLastResponse }; return nil }`,
		"TestStaysOnRedirects",
	},
	{
		"tools/web/proxy.go", `o := httpclient.Options{Guard: guard, Resolver: resolver, Raw: true}`, `o := httpclient.Options{Resolver: resolver, Raw: true}`,
		"TestProxyTunnels",
	},
	{
		"tools/web/header.go", `case slices.Contains(ours, canonical), strings.HasPrefix(canonical, "Proxy-"):`, `case canonical == "":`,
		"TestHeaders",
	},
	{
		"tools/sandbox/seccomp_linux.go", `bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},`, `bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},`,
		"TestSandboxClosesTheWaysAroundIt",
	},
	{
		"tools/mcp/server.go", `case now.Hash() != a.Hash:`, `case now.Tool != a.Tool:`,
		"TestToolThatChangesIsOffUntilItIsAccepted",
	},
	{
		"tools/mcp/connect.go", `	var env []string`, `	env := os.Environ()`,
		"TestServerSeesNothingOfTheEnvironment",
	},
	{
		"tools/source.go", `if other, taken := r.byName[spec.Name]; taken {`, `if other, taken := r.byName[spec.Name]; taken && spec.Name == "" {`,
		"TestSourcesNeverShadow",
	},
	{
		"tools/artifact.go", `case ok && s.Nlink > 1:`, `case ok && s.Nlink > 9:`,
		"TestArtifacts",
	},
	{
		"tools/plugin/file.go", `case info.Mode().Perm()&0o022 != 0:`, `case info.Mode().Perm()&0o022 == 0o022:`,
		"TestOnlyTheOwnerMayChangeAPlugin",
	},
	{
		"tools/plugin/call.go", `if now, ok := look(t.file.path); !ok || now != t.file {`, `if now, ok := look(t.file.path); !ok || now.name != t.file.name {`,
		"TestPluginThatChangedSinceItWasOffered",
	},
}
