package main

// mutant is a guard that is taken away, and the test that must notice.
type mutant struct {
	file string
	// old stands in the file exactly once; new takes its place.
	old, new string
	// run names the tests of the file's package, as go test -run does. "engine: TestX"
	// is a test of another package.
	run string
}

// mutants are the guards whose loss would hurt most. The first of each kind come
// first, because CI runs only the beginning. What follows from the classifier of
// commands on is each guard of the tools that act on the world.
var mutants = []mutant{
	{
		"tools/file/path.go", `if !filepath.IsLocal(name) {`, `if name == "" {`,
		"TestScenariosOfKlaw",
	},
	{
		"tools/file/swap.go", `return 0, tools.Refuse(tools.Execution, "the change could not be recorded, so nothing was changed: %v", err)`, `return 0, nil`,
		"TestChangeNeedsItsRecord",
	},
	{
		"gateway/gateway.go", `if err := g.admissible(u); err != nil {`, `if err := g.admissible(u); err != nil && u.Bot < 0 {`,
		"TestStrangersStayOutAndAreLoggedOnceAMinute",
	},
	{
		"tools/capture.go", `return p.redact.Text(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))`, `return strings.ToValidUTF8(text, "\uFFFD")`,
		"TestSecretsAreTakenOut",
	},
	{
		"gateway/gateway.go", `return masked(g.secrets, ch.Render(markdown))`, `return ch.Render(markdown)`,
		"TestSecretOverSeveralParts",
	},
	{
		"gateway/gateway.go", `return masked(g.secrets, []Part{p})[0]`, `return p`,
		"TestNothingThatLeavesShowsSecret",
	},
	{
		"gateway/mask.go", `if e.URL != "" && secrets.Address(e.URL) {`, `if e.URL == "/" {`,
		"TestNothingThatLeavesShowsSecret",
	},
	{
		"gateway/mask.go", `if from := g.secrets.Begun(all); from < len(p.Text) {`, `if from := g.secrets.Begun(all); from < 0 {`,
		"TestSecretOverSeveralParts",
	},
	{
		"internal/redact/find.go", `if len(letters) > 0 {`, `if len(letters) > 999 {`,
		"TestSecretIsFoundInPieces",
	},
	{
		"engine/internal/store/mask.go", `if text := string(tx.secrets.JSON([]byte(v))); text != v {`, `if text := string(tx.secrets.JSON([]byte(v))); text == "" {`,
		"TestNoRowHoldsSecret",
	},
	{
		"engine/internal/model/provider.go", `provider = discreet{provider, p.secrets, newCleanTools()}`, `provider = discreet{provider, new(redact.Set), newCleanTools()}`,
		"engine: TestModelsAreToldNoSecret",
	},
	{
		"engine/internal/turn/turn.go", `c.Arguments = string(t.Redact.KnownJSON([]byte(c.Arguments)))`, `_ = t.Redact`,
		"engine: TestModelsAreToldNoSecret",
	},
	{
		"engine/internal/command/direct.go", `if call != nil && call.Fault == "" && strings.Contains(m.Args, redact.Bars) {`, `if call != nil && call.Fault != "" && strings.Contains(m.Args, redact.Bars) {`,
		"TestDirectCommands",
	},
	{
		"engine/internal/outbox/attempt.go", `if o.Resent > 0 && !keyed {`, `if o.Resent > 9 && !keyed {`,
		"TestOutcomes",
	},
	{
		"tools/file/open.go", `if linked(info) && !f.hardlinks() && !protected(p.name) {`, `if linked(info) && p.name == "" {`,
		"TestHardlinks",
	},
	{
		"tools/file/snapshot.go", `if linked(info) && !f.hardlinks() {`, `if linked(info) && leaf == "" {`,
		"TestUndoKeepsHardLinkContentPrivate",
	},
	{
		"tools/file/alter.go", `case protected(p.shown) || protected(p.name):`, `case protected(p.shown):`,
		"TestGitIsNeverWritten",
	},
	{
		"tools/file/swap.go", `if !same {`, `if !same && s.leaf == "" {`,
		"TestConcurrentChangeWins",
	},
	{
		"tools/file/revert.go", `if c.After != u.state && c.Before != u.state {`, `if c.Path == "" {`,
		"TestUndoLeavesForeignChanges",
	},
	{
		"gateway/gateway.go", `return nil, &SendError{Kind: Refused, Err: err}`, `return g.byName[to.Chat.Channel], nil`,
		"TestNothingLeavesForAChatThatIsNotListed",
	},
	{
		"engine/internal/outbox/attempt.go", `if o.Resent >= limit || d.config.HoldAmbiguous() {`, `if o.Resent >= limit {`,
		"TestOutcomes",
	},
	{
		"cmd/klawbot/internal/configedit/tool.go", `if !settable(path) {`, `if len(path) == 0 {`,
		"TestProofComparesMeaning",
	},
	{
		"cmd/klawbot/internal/configedit/tool.go", `case strings.Contains(value, "${"):`, `case strings.Contains(value, "$${"):`,
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
		"engine/internal/approval/button.go", `return !a.Owners && m.Sender.ID != 0 && m.Sender.ID == a.Sender || q.Owns(m.Address, m.Sender.ID)`, `return m.Sender.ID != 0`,
		"engine: TestForeignTapIsRefusedAndLeavesItPending",
	},
	{
		"engine/button.go", `if !it.Row.Group || b.questions.Owns(it.Msg.Address, it.Msg.Sender.ID) {`, `if it.Row.ID != 0 {`,
		"TestForgedTapsChangeNoMessageOfAGroup",
	},
	{
		"engine/internal/approval/button.go", `return !a.Owners && m.Sender.ID != 0`, `return m.Sender.ID != 0`,
		"engine: TestOwnersRequestSurvivesARestart|TestDemotedOwnerDoesNotDecide",
	},
	{
		"engine/internal/approval/approver.go", `if asked.OwnerOnly && !a.ownerHere() {`, `if asked.OwnerOnly && t.User == 0 {`,
		"engine: TestOwnersApproveInTheirPrivateChat",
	},
	{
		"engine/internal/wording/wording.go", `if len(parts) != 1 || parts[0].Document != nil {`, `if len(parts) == 0 {`,
		"engine: TestCallThatDoesNotFitIsRefused",
	},
	{
		"engine/internal/approval/approver.go", `		if !wanted.Once {
`, `		if wanted.Tool != "" {
`,
		"engine: TestOnceOnlyIsNeverRemembered",
	},
	{
		"engine/internal/approval/decision.go", `if d.state == store.ApprovalHour && row.Once {`, `if d.state == store.ApprovalHour && row.Tool == "" {`,
		"engine: TestOnceOnlyIsNeverRemembered",
	},
	{
		"engine/internal/approval/owners.go", `if owns && !owned {`, `if owns && r.From == 0 {`,
		"engine: TestJoinedMessagesAreNoOwners",
	},
	{
		"engine/internal/approval/owners.go", `if !wanted.Away() && t.Job == nil {`, `if !wanted.Away() {`,
		"engine: TestJobSaysWhoWantsIt",
	},
	{
		"engine/internal/store/grant.go", `if err == nil && a.Owners && !slices.Contains(owners, g.AddedBy) {`, `if err == nil && a.Owners && !slices.Contains(owners, g.AddedBy) && len(owners) > 9 {`,
		"TestOwnersGrantIsByAnOwner",
	},
	{
		"engine/internal/approval/button.go", `return err == nil && (!known || asked.MessageID == message), err`, `return err == nil && (known || !known), err`,
		"engine: TestForeignTapIsRefusedAndLeavesItPending",
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
		"TestApprovalChecksPolicyAgain",
	},
	{
		"tools/show.go", `case !hidden(r):`, `case !hidden(r) || r > 0x7F:`,
		"TestShownArgumentsHideNothing",
	},
	{
		"tools/decide.go", `if own.Verdict.strictness() < d.Verdict.strictness() ||`, `if own.Verdict != Allow ||`,
		"TestStrictestOfToolAndPolicyWins",
	},
	{
		"engine/internal/approval/owners.go", `case open >= maxOpenRequests:`, `case open > 10*maxOpenRequests:`,
		"engine: TestOwnersAreNotFlooded",
	},
	{
		"engine/internal/approval/owners.go", `case vain >= maxVainRequests:`, `case vain > 10*maxVainRequests:`,
		"engine: TestOwnersAreNotFlooded",
	},
	{
		"engine/internal/approval/approver.go", `if tools.Obscures(`, `if asked.Call.Name == "" && tools.Obscures(`,
		"engine: TestMaskedCommandIsRefused",
	},
	{
		"tools/approve.go", `if p.decision.OwnerOnly && !asked.OwnerOnly {`, `if p.decision.OwnerOnly && p.spec.Name == "" {`,
		"TestOnlyOwnersApproveUnconfinedCalls",
	},
	{
		"tools/decide.go", `case p.spec.Unconfined != nil && p.spec.Unconfined() && !e.rules().AnyoneApproves:`, `case p.spec.Unconfined != nil && p.spec.Name == "":`,
		"TestOnlyOwnersApproveUnconfinedCalls",
	},
	{
		"tools/approve.go", `if p.decision.Binds != asked.Binds {`, `if p.decision.Binds == "" && asked.Binds != "" {`,
		"TestApprovalCoversWhatTheCallDependsOn",
	},
	{
		"tools/exec/command/plain.go", `if strings.Contains(text, "#") && commented(file) {`, `if text == "" && commented(file) {`,
		"TestNotPlain",
	},
	{
		"tools/exec/program/call.go", `return anyFree`, `return anyFree && c.piped`,
		"tools/exec/command: TestStarGrantsNoOtherProgram",
	},
	{
		"tools/exec/shell_look.go", `if line.Blocked != "" {`, `if line.Blocked == "it" {`,
		"TestPreValidateShellByAutonomy",
	},
	{
		"tools/exec/shell_run.go", `case v.mode != ModeFull && d.Verdict != tools.Ask:`, `case v.mode != ModeFull && d.Verdict == tools.Deny:`,
		"TestDecidedCommandsAreWhatRuns",
	},
	{
		"tools/exec/host/host.go", `if !filepath.IsAbs(dir) || err != nil || worldWritable(real) {`, `if dir == "" && err != nil {`,
		"TestFolders",
	},
	{
		"tools/outside.go", `v := worst(r.Output, r.Error, r.Raw, string(r.Data), r.Source)`, `v := worst(head(r.Output, 1000))`,
		"TestInjectionsAreWithheld",
	},
	{
		"tools/outside.go", `case v.Level == injection.Block:`, `case v.Level > injection.Block:`,
		"TestUntrustedWritesAreScreened",
	},
	{
		"tools/exec/git/repository.go", `case sub != "" && !inside && section != "color" && section != "advice", !safeKeys.MatchString(plain):`, `case sub == "!" && inside && !safeKeys.MatchString(plain):`,
		"TestGitRunsNothingOfTheRepository",
	},
	{
		"tools/exec/git/parse.go", `case strings.HasPrefix(o, "+"):`, `case o == "+":`,
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
		"tools/web/browser/proxy.go", `o := httpclient.Options{Guard: guard, Resolver: resolver, Raw: true}`, `o := httpclient.Options{Resolver: resolver, Raw: true}`,
		"TestProxyTunnels",
	},
	{
		"tools/web/header.go", `case slices.Contains(ours, canonical), strings.HasPrefix(canonical, "Proxy-"):`, `case canonical == "":`,
		"TestHeaders",
	},
	{
		"tools/sandbox/seccomp/seccomp_linux.go", `bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},`, `bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},`,
		"tools/sandbox: TestSandboxRefusesDangerousSystemCalls",
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
		"tools/mcp/tool.go", `Changes: !reads, RequiresApproval: !reads, Outside: true,`, `Changes: !reads, Outside: true,`,
		"TestToolsAskUnlessTheOwnerSaysTheyRead",
	},
	{
		"tools/mcp/tool.go", `if standing := s.verdict(t.Accepted); standing != Usable {`, `if standing := s.verdict(t.Accepted); standing == Gone {`,
		"TestCallOfAToolThatHasJustChanged",
	},
	{
		"tools/mcp/tool.go", `wait.NewClock(timeout, cancel)`, `wait.NewClock(time.Hour, cancel)`,
		"TestTimeoutLeavesTheSessionAlive",
	},
	{
		"tools/mcp/name.go", `legal(tool) != "" && !taken(name) {`, `legal(tool) != "" {`,
		"TestNames",
	},
	{
		"tools/mcp/result.go", `case len(data) > maxFileBytes:`, `case len(data) > 9*maxFileBytes:`,
		"TestLargeFilesAreLeftOut",
	},
	{
		"tools/mcp/http.go", `case !isAt(home, r.URL):`, `case home == nil:`,
		"TestRedirectsStayAtTheOrigin",
	},
	{
		"tools/mcp/elicit.go", `if secret := f.Secret(); secret != "" {`, `if secret := f.Secret(); secret == "-" {`,
		"TestFormNeverAsksForSecrets",
	},
	{
		"tools/mcp/elicit.go", `case u.User != nil:`, `case u.Port() == "0":`,
		"TestPagesToOpen",
	},
	{
		"tools/mcp/signin/signin.go", `g.Config.ClientSecret = "" // it is where the owner keeps it`, `_ = g`,
		"TestSecretOfAClientIsNotKept",
	},
	{
		"engine/internal/approval/form.go", `	if t.Job != nil {
		return declined, nil
	}`, ``,
		"engine: TestRunsThatNobodyAttendsDecline",
	},
	{
		"engine/internal/approval/written.go", `tx.Inbox().ReplaceUpdate(update, []byte("{}"))`, `error(nil)`,
		"engine: TestAnswerInWordsGoesToTheProgramOnly",
	},
	{
		"engine/internal/approval/button.go", `f == nil || !ofForm || c.option`, `f == nil || c.option`,
		"engine: TestAnswersByButton",
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
	{
		"tools/exec/command/block.go", `case name == "rm" && recursive(args, 'r', 'R') && f.anyRoot(args),`, `case name == "rm" && recursive(args, 'r', 'R') && name == "",`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `recursive(args, 'R') && f.anyRoot(args):`, `recursive(args, 'R') && name == "":`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `case name == "mkfs" || strings.HasPrefix(name, "mkfs.") || name == "mke2fs":`, `case name == "mke2fs":`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `case name == "dd" && slices`, `case name == "" && slices`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `r.Hdoc == nil && r.Word != nil && device(word(r.Word)) {`, `r.Hdoc == nil && r.Word != nil && r.N != nil {`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `if runsAny(argv, program.Downloaders) {`, `if runsAny(argv, nil) {`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `if i == 0 || ran || wraps && !strings.HasPrefix(w, "-") {`, `if i == 0 || ran {`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `	for _, code := range program.Codes(argv) {
		f.text(code)`, `	for _, code := range program.Codes(argv) {
		f.text(code[:0])`,
		"TestDangerousCommands",
	},
	{
		"tools/exec/command/block.go", `what != "" && !onlyText(tree, n) {`, `what != "" && text == "" {`,
		"TestSensitiveFiles",
	},
	{
		"tools/exec/command/sensitive.go", `for _, t := range []string{text, cleaned(text)} {`, `for _, t := range []string{text} {`,
		"TestSensitiveFiles",
	},
	{
		"tools/exec/command/block.go", `if dir, seen := f.led[text]; seen {`, `if dir, seen := f.led[text]; seen && dir == "?" {`,
		"TestNestedCommandsAreFound",
	},
	{
		"tools/exec/command/command.go", `l.TooComplex = steps.Spent(); l.TooComplex {`, `l.TooComplex = steps.Spent(); l.TooComplex && text == "" {`,
		"TestStepsGrowWithTheLine",
	},
	{
		"tools/exec/shell.go", `case v.line.TooComplex && (v.mode == ModeFull || a != tools.Full):`, `case v.line.TooComplex && v.mode == ModeDeny:`,
		"TestCommandsTooComplexToCheck",
	},
	{
		"tools/exec/shell_harmless.go", `if !w.files.Spend(1) {`, `if !w.files.Spend(0) {`,
		"TestTooMuchToReadNeedsApproval",
	},
	{
		"tools/exec/shell_binds.go", `if info.Size() > n {`, `if info.Size() < n {`,
		"TestTooMuchToReadNeedsApproval",
	},
	{
		"tools/budget/pattern.go", `	if size > maxProgram {
		return nil,`, `	if size > 100*maxProgram {
		return nil,`,
		"TestPatternsThatAreTooLarge",
	},
	{
		"tools/decide.go", `	if !looked {`, `	if !looked && reason != "" {`,
		"TestRulesWithLargePatternsHaveABudget",
	},
	{
		"tools/outside.go", `case steps.Spent() && d.Verdict == Allow:`, `case steps.Spent() && d.Verdict == Deny:`,
		"TestScreenOfKeptTextHasABudget",
	},
	{
		"tools/params/measure.go", `if _, text := n[name].(string); text {`, `if _, text := n[name].(string); text && depth < 0 {`,
		"TestSchemasThatAreRefused",
	},
	{
		"tools/params/measure.go", `	if depth > maxSchemaDepth {`, `	if depth > 1000*maxSchemaDepth {`,
		"TestSchemasThatAreRefused",
	},
	{
		"tools/params/measure.go", `	return !m.steps.Spent()`, `	return !m.steps.Spent() || bytes > 200_000`,
		"TestValidationHasABudget",
	},
	{
		"tools/injection/injection.go", `	if steps.Spent() {`, `	if steps.Spent() && write {`,
		"TestTooComplexTextIsWarned",
	},
	{
		"tools/exec/command/command.go", `case len(text) > MaxBytes:`, `case len(text) > 1000*MaxBytes:`,
		"TestInvalidCommands",
	},
	{
		"tools/exec/command/command.go", `(unicode.IsControl(r) || misleading(r)) {`, `(unicode.IsControl('\r') && misleading(r)) {`,
		"TestInvalidCommands|TestNotPlain",
	},
	{
		"tools/exec/command/plain.go", `case r == '~' && !inside(before):`, `case r == '~' && before == 'q':`,
		"TestNotPlain",
	},
	{
		"tools/exec/command/plain.go", `if len(c.Assigns) > 0 {`, `if len(c.Assigns) > 9 {`,
		"TestNotPlain|TestCorpus",
	},
	{
		"tools/exec/command/plain.go", `return target == "/dev/null" && p.send(fd, Null)`, `return p.send(fd, Null)`,
		"TestNotPlain",
	},
	{
		"tools/exec/command/plain.go", `case slices.Contains(builtins, name):`, `case name == "." && slices.Contains(builtins, name):`,
		"TestNotPlain",
	},
	{
		"tools/exec/command/plain.go", `if f.programs > maxPrograms {`, `if f.programs > 50*maxPrograms {`,
		"TestNotPlain",
	},
	{
		"tools/exec/shell_harmless.go", `} else if !slices.Contains(long, name) {`, `} else if !strings.Contains(a, "-") {`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/shell_harmless.go", `if !strings.ContainsRune(h.flags, r) {`, `if r == '0' && !strings.ContainsRune(h.flags, r) {`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/shell_harmless.go", `		return oneLine(name) + " is outside the workspace"
	case !info`, `		return ""
	case !info`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/shell_harmless.go", `if err := w.straight(seen); err != nil {`, `if err := w.straight(seen); err != nil && seen == "" {`,
		"TestMissingFolderThenMade",
	},
	{
		"tools/exec/shell_harmless.go", `!strings.HasPrefix(a, "--") && tailFollows.MatchString(a)`, `strings.HasPrefix(a, "+") && tailFollows.MatchString(a)`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/program/call.go", `, look: some(oldFollow.MatchString)}`, `}`,
		"tools/exec/command: TestStarGrantsNoOtherProgram",
	},
	{
		"tools/exec/shell_run.go", `			if why := s.refusal(); why != "" {`, `			if why := s.refusal(); why == "-" {`,
		"TestStepsAreJudgedAgain",
	},
	{
		"tools/exec/shell_run.go", `if unasked && runner.Name() == sandbox.TypeOff && s.config.Confines() {`, `if unasked && runner.Name() == "" && s.config.Confines() {`,
		"TestSwapWhileAPipelineRuns",
	},
	{
		"tools/exec/shell_reach.go", `			if w.outside(name) {
				return name`, `			if w.outside(name) && word == "" {
				return name`,
		"TestOwnersPatternsStayInTheWorkspace",
	},
	{
		"tools/exec/git/run.go", `	if !g.config.Confines() {`, `	if g.config.Confines() {`,
		"TestReadingGitIsConfined",
	},
	{
		"tools/sandbox/guard_linux.c", `if (syscall(RESTRICT_SELF, RULESET, 0) != 0)`, `if (0)`,
		"TestReachConfines",
	},
	{
		"tools/exec/shell_harmless.go", `if h.most < 0 || h.most > 0 && len(operands) > h.most {`, `if h.most < 0 {`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/shell_look.go", `strings.CutPrefix(name+"/", strings.TrimSuffix(dir, "/")+"/"); is {`, `strings.CutPrefix(name, strings.TrimSuffix(dir, "/")); is {`,
		"TestShellWorkdir",
	},
	{
		"tools/exec/shell_plan.go", `	if !v.listed {`, `	if v.mode != ModeDeny {`,
		"TestApprovedListRunsProgramByProgram",
	},
	{
		"tools/exec/shell_run.go", `case d.Binds != v.binds:`, `case v.binds == "":`,
		"TestDecidedCommandsAreWhatRuns",
	},
	{
		"tools/exec/shell_run.go", `cmd.MaxOutput = t.room()`, `cmd.MaxOutput = 100 << 20`,
		"TestFloodOfOutput",
	},
	{
		"tools/exec/shell.go", `return time.Duration(min(args.Timeout, int(tools.MaxTimeout/time.Second))) * time.Second`, `return time.Duration(args.Timeout) * time.Second`,
		"TestTimeoutOfACall",
	},
	{
		"tools/exec/shell_job.go", `return j.chat == c.Chat`, `return j.id != c.Chat`,
		"TestJobsBelongToTheirChat",
	},
	{
		"tools/exec/code.go", `Changes: true, RequiresApproval: true, Outside: true,`, `Changes: true, Outside: true,`,
		"TestCodeAsks",
	},
	{
		"tools/exec/git/parse.go", `	switch {
	case kind == 0:`, `	switch {
	case kind == 0 && name == "":`,
		"TestGitCorpus",
	},
	{
		"tools/exec/git/parse.go", `if c.forces(w) {`, `if c.forces(w) && c.action == "" {`,
		"TestGitScenarios|TestGitCorpus",
	},
	{
		"tools/exec/git/parse.go", `if strings.EqualFold(strings.TrimRight(part, ". "), ".git") {`, `if part == "" {`,
		"TestGitRefusesItsOwnFiles",
	},
	{
		"tools/exec/git/remote.go", `	case "https", "http", "ssh":
	default:`, `	case "https", "http", "ssh", "file", "ext", "git":
	default:`,
		"TestGitTransports",
	},
	{
		"tools/exec/git/remote.go", `|| local || numeric {`, `|| numeric {`,
		"TestGitCorpus|TestGitScenarios",
	},
	{
		"tools/exec/git/remote.go", `func masked(text string) string { return userInfo.ReplaceAllString(text, "${1}***@") }`, `func masked(text string) string { return text }`,
		"TestGitPrintsNoCredentials",
	},
	{
		"tools/exec/git/repository.go", `case !info.IsDir():
		return denied("the .git`, `case !info.IsDir() && info.Size() < 0:
		return denied("the .git`,
		"TestGitKeepsToItsRepository",
	},
	{
		"tools/exec/git/run.go", `"core.hooksPath=/dev/null", "core.fsmonitor=false",`, `"core.fsmonitor=false",`,
		"TestGitRunsNoHooks",
	},
	{
		"tools/sandbox/env.go", `return append(pick(passed), extra...)`, `return append(os.Environ(), extra...)`,
		"TestOffPassesOnlyTheListedVariables",
	},
	{
		"tools/sandbox/env.go", `return append(pick([]string{"LANG", "TERM", "TZ"}), "PATH="+insidePath)`, `return append(os.Environ(), "PATH="+insidePath)`,
		"TestSandboxHidesTheEnvironmentOfTheBot",
	},
	{
		"tools/sandbox/bwrap.go", `	if !r.config.Network {
		args = append(args, "--unshare-net")`, `	if r.config.Network {
		args = append(args, "--unshare-net")`,
		"TestSandboxHasNoNetwork",
	},
	{
		"tools/sandbox/bwrap.go", `var systemFolders = []string{"/usr",`, `var systemFolders = []string{"/etc", "/usr",`,
		"TestSandboxHidesTheFilesOfTheHost",
	},
	{
		"tools/sandbox/seccomp/seccomp_linux.go", `names = append(names, "socket")`, `names = append(names, "mknod")`,
		"tools/sandbox: TestSandboxHasNoNetwork",
	},
	{
		"tools/sandbox/seccomp/seccomp_linux.go", `"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "memfd_create",`, `"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3",`,
		"tools/sandbox: TestSandboxRefusesDangerousSystemCalls",
	},
	{
		"tools/sandbox/landlock.go", `g := confinement{Read: existing(systemFolders),`, `g := confinement{Read: []string{"/"},`,
		"TestSandboxHidesTheFilesOfTheHost",
	},
	{
		"tools/sandbox/landlock.go", `		if b.Writable {
			g.Write`, `		if b.Host != "" {
			g.Write`,
		"TestSandboxShowsMounts",
	},
	{
		"tools/sandbox/limits.go", `	l := s.config.Limits`, `	l := s.config.Limits
	l.MemoryMB *= 2`,
		"TestSandboxBoundsTheMemory",
	},
	{
		"tools/sandbox/limits.go", `	l := s.config.Limits`, `	l := s.config.Limits
	l.Pids *= 4`,
		"TestSandboxBoundsTheProcesses",
	},
	{
		"tools/sandbox/limits.go", `	l := s.config.Limits`, `	l := s.config.Limits
	l.CPUs *= 8`,
		"TestSandboxBoundsTheProcessors",
	},
	{
		"tools/sandbox/patrol_linux.go", `if w.filled(free) && w.written(begun) > w.disk {`, `if w.filled(free) && w.written(begun) > 100*w.disk {`,
		"TestSandboxBoundsTheDisk",
	},
	{
		"tools/sandbox/confined.go", `c.Timeout == 0 || c.Timeout > limit {`, `c.Timeout == 0 {`,
		"TestSandboxBoundsTheTime",
	},
	{
		"tools/sandbox/confined.go", `if r.dir == "" {`, `if s == nil {`,
		"TestSandboxRefusesUnsafeMounts",
	},
	{
		"tools/sandbox/confined.go", `if within(real, resolved(socket)) || within(resolved(socket), real) {`, `if within(real, resolved(socket)) && real == "/" {`,
		"TestSandboxRefusesUnsafeMounts",
	},
	{
		"tools/sandbox/confined.go", `if c.Data != "" && within(resolved(c.Workspace), resolved(c.Data)) {`, `if c.Data == "/" {`,
		"TestSandboxRefusesUnsafeMounts",
	},
	{
		"tools/sandbox/output.go", `room := min(b.headMax-len(b.head), len(p))`, `room := len(p)`,
		"TestOutputOf200MegabytesCostsLittle",
	},
	{
		"tools/sandbox/guard_linux.c", `if (gone < 0 || !kill_below())`, `if (gone < 0 || round == 0 || !kill_below())`,
		"TestOffLeavesNoProcessBehindAtTheDeadline",
	},
	{
		"tools/sandbox/guard_linux.c", `	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)`, `	if (prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) != 0)`,
		"TestOffLeavesNoProcessBehindAtTheDeadline",
	},
	{
		"tools/sandbox/guard_linux.c", `	guard(SIGUSR1);
	guard(SIGTERM);
`, `	guard(SIGTERM);
`,
		"TestCommandCannotEscapeItsGuards",
	},
	{
		"tools/sandbox/guard_linux.go", `Pdeathsig: syscall.SIGTERM}`, `}`,
		"TestOffDiesWithTheBot",
	},
	{
		"tools/sandbox/confined.go", `	putBack, err := s.readOnly(r, c.ReadOnly)`, `	putBack, err := s.readOnly(r, nil)`,
		"TestSandboxKeepsReadOnlyFiles",
	},
	{
		"tools/plugin/file.go", `case mode.Type() == fs.ModeSymlink:`, `case mode.Type() == fs.ModeSymlink && path == "":`,
		"TestFilesThatAreNotPlugins",
	},
	{
		"tools/plugin/file.go", `if f.fault == "" && s.Nlink > 1 {`, `if f.fault == "" && s.Nlink > 9 {`,
		"TestFilesThatAreNotPlugins",
	},
	{
		"tools/plugin/file.go", `if folder != "" {`, `if folder == "it" {`,
		"TestFolderThatOthersCanWrite",
	},
	{
		"tools/plugin/file.go", `case ok && s.Uid != 0 && int(s.Uid) != os.Geteuid():`, `case ok && s.Uid != 0 && os.Geteuid() < 0:`,
		"TestOnlyTheOwnerMayChangeAPlugin",
	},
	{
		"tools/plugin/spec.go", `	specBytes      = 64 << 10`, `	specBytes      = 64 << 20`,
		"TestSpecsThatCannotBeUsed",
	},
	{
		"tools/plugin/spec.go", `	d.DisallowUnknownFields()
`, ``,
		"TestSpecsThatCannotBeUsed",
	},
	{
		"tools/plugin/spec.go", `case !legalName.MatchString(p.Name):`, `case p.Name == "":`,
		"TestSpecsThatCannotBeUsed",
	},
	{
		"tools/plugin/spec.go", `p.Timeout > int(tools.MaxTimeout/time.Second):`, `p.Timeout > int(tools.MaxTimeout):`,
		"TestSpecsThatCannotBeUsed",
	},
	{
		"tools/plugin/plugin.go", `spec.Changes = !slices.Contains(reads, spec.Name)`, `spec.Changes = false`,
		"TestSpecIsShownToModels",
	},
	{
		"tools/plugin/plugin.go", `spec.RequiresApproval = spec.Changes`, `spec.RequiresApproval = false`,
		"TestPluginNeedsApprovalUnlessReadOnly",
	},
	{
		"tools/plugin/call.go", `command := t.host.command(runner, t.file, t.spec.Timeout, resultBytes)`, `command := t.host.command(runner, t.file, 3*t.spec.Timeout, resultBytes)`,
		"TestEveryProcessOfACallEnds",
	},
	{
		"tools/plugin/call.go", `	case out.Stdout.Omitted() > 0:
		return tools.Fail`, `	case out.Stdout.Omitted() > 1<<40:
		return tools.Fail`,
		"TestCalls",
	},
	{
		"tools/plugin/call.go", `!slices.Contains(honest, a.ErrorKind) {`, `!slices.Contains(append(honest, "policy_denied"), a.ErrorKind) {`,
		"TestCalls",
	},
	{
		"tools/plugin/call.go", `command.ReadOnly = t.host`, `_ = t.host`,
		"TestPluginInASandboxKeepsFiles",
	},
	{
		"tools/sandbox/nsjail.go", `"--seccomp_string", policy, "--"`, `"--hostname", policy, "--"`,
		"TestNsjailGetsTheFilterOfBwrap",
	},
	{
		"tools/sandbox/seccomp/seccomp_linux.go", `unix.ENOSYS, calls(absent), unix.EPERM, calls(forbidden), clone), nil`, `unix.ENOSYS, calls(absent), unix.EPERM, calls(forbidden[1:]), clone), nil`,
		"TestKafelRefusesSameCalls",
	},
	{
		"tools/sandbox/seccomp/seccomp_linux.go", `{ (flags & %#x) != 0 }`, `{ (flags & %#x) == 1 }`,
		"TestKafelRefusesSameCalls",
	},
	{
		"tools/sandbox/nsjail.go", `		if b.Writable {
			how`, `		if b.Host != "" {
			how`,
		"TestNsjailShowsOnlyMounts",
	},
	{
		"cmd/klawbot/internal/bot/closed_linux.go", `unix.Prctl(unix.PR_SET_DUMPABLE, 0,`, `unix.Prctl(unix.PR_SET_DUMPABLE, 1,`,
		"TestCloseOff",
	},
	{
		"cmd/klawbot/internal/bot/closed_linux.go", `value != "" && secret(value) {`, `value == "" && secret(value) {`,
		"TestCloseOff",
	},
	{
		"tools/exec/shell_plan.go", `Argv: []string{shell, "-c", "--", v.line.Text}`, `Argv: []string{shell, "-c", "--", strings.Join(strings.Fields(v.line.Text), " ")}`,
		"TestApprovedCommandRunsAsShown",
	},
	{
		"tools/exec/host/host.go", `if slices.ContainsFunc(inside, func(w string) bool { return real == w || strings.HasPrefix(real, w+"/") }) {`, `if slices.ContainsFunc(inside, func(w string) bool { return w == "" }) {`,
		"TestFolders",
	},
	{
		"tools/run.go", `if p.watched != (watched{}) && p.spec`, `if p.watched == (watched{}) && p.spec`,
		"tools/exec: TestApprovalIsForWhatAProgramLoads",
	},
	{
		"tools/exec/watched.go", `case d.IsDir(), !all && !may`, `case d.IsDir(), !may`,
		"TestApprovalIsForWhatAProgramLoads",
	},
	{
		"tools/exec/command/once.go", `return slices.Contains(alone, argv[0]) &&`, `return argv[0] != "" &&`,
		"TestRunsOthers",
	},
	{
		"tools/exec/command/once.go", `l.RunsOthers = true
`, `l.RunsOthers = l.RunsOthers || vague
`,
		"TestRunsOthers",
	},
	{
		"tools/exec/shell_binds.go", `		if text := w.fingerprint(name, &left); text != "" {`, `		if text := w.fingerprint(name, &left); text == "it" {`,
		"TestApprovalIsForAScriptElsewhere",
	},
	{
		"tools/exec/shell_binds.go", `fmt.Fprintf(sum, "%s %q\n", sandboxed, w.dir)`, `fmt.Fprintf(sum, "%s\n", sandboxed)`,
		"TestApprovalIsForTheScriptAsItWas|TestApprovalIsForTheFolderAsItWas",
	},
	{
		"tools/exec/shell_look.go", `	return "", errOutside
}

// pinned`, `	return strings.TrimPrefix(name, "/"), nil
}

// pinned`,
		"TestShellWorkdir",
	},
	{
		"tools/exec/shell_harmless.go", `	if !w.hardlinks && linked(info) {`, `	if !w.hardlinks && linked(info) && name == "" {`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/shell_harmless.go", `		if !known {
			return "the expression`, `		if !known && args[i] == "" {
			return "the expression`,
		"TestOtherUsesOfHarmlessCommandsNeedApproval",
	},
	{
		"tools/exec/code.go", `	command.ReadOnly = c.ReadOnly(call)
`, ``,
		"TestCodeKeepsReadOnlyFilesAsTheyAre",
	},
	{
		"tools/exec/git/parse.go", `check != nil && !check.MatchString(value) {`, `check != nil && value == "" {`,
		"TestGitCorpus|TestGitScenarios",
	},
	{
		"tools/exec/git/parse.go", `if (name == "--format" || name == "--pretty") && shows.MatchString(value) {`, `if name == "" && shows.MatchString(value) {`,
		"TestGitScenarios",
	},
	{
		"tools/exec/git/repository.go", `"commondir", "gitdir", "objects/info/alternates", "objects/info/http-alternates"} {`, `"gitdir"} {`,
		"TestGitKeepsToItsRepository",
	},
	{
		"tools/exec/git/repository.go", `	if r.submodules && c.action`, `	if r.submodules && c.action == "" && c.action`,
		"TestGitSubmodulesAreReadOnly",
	},
	{
		"tools/exec/git/repository.go", `filepath.IsLocal(rest) {
		return denied("the remote lies`, `rest == "it" {
		return denied("the remote lies`,
		"TestGitRemotesInTheWorkspaceAreRefused",
	},
	{
		"tools/exec/git/repository.go", `case !d.IsDir() && !d.Type().IsRegular():`, `case !d.IsDir() && count < 0:`,
		"TestGitWritesThroughNoLink",
	},
	{
		"tools/exec/git/repository.go", `if rest, is := strings.CutPrefix(entry, "160000 "); is {`, `if rest, is := strings.CutPrefix(entry, "160000  "); is {`,
		"TestGitRefusesNestedRepositories",
	},
	{
		"tools/exec/git/git.go", `open, err := host.Alone(ctx, g.config.Gate)`, `open, err := host.Alone(ctx, new(sandbox.Gate))`,
		"TestGitWaitsForTheSandbox",
	},
	{
		"tools/sandbox/confined.go", `leave, err := s.config.Gate.enter(ctx)`, `leave, err := (*Gate)(nil).enter(ctx)`,
		"TestSandboxWaitsAtTheGate",
	},
	{
		"tools/sandbox/gate.go", `func() bool { return g.closed == 0 }`, `func() bool { return g.closed >= 0 }`,
		"TestGateKeepsApart",
	},
	{
		"tools/exec/git/git.go", `	out.PutBack = putBack()
`, `	_ = putBack
`,
		"TestGitKeepsReadOnlyFiles",
	},
	{
		"tools/exec/git/repository.go", `	if c.remote() == "" {
		if err := r.permitsUsual(c)`, `	if c.remote() == "it" {
		if err := r.permitsUsual(c)`,
		"TestGitChecksDefaultRemotes",
	},
	{
		"tools/exec/git/repository.go", `strings.HasPrefix(at, "remotes/") || strings.HasPrefix(at, "branches/"):`, `at == "it":`,
		"TestGitChecksDefaultRemotes",
	},
	{
		"tools/exec/git/repository.go", `strings.HasPrefix(value, ":") && value != ":"):`, `value == "it"):`,
		"TestGitRefusesForcedPushOfTheConfiguration",
	},
	{
		"tools/exec/git/git.go", `d.Verdict != tools.Ask && g.config.Sandboxed()`, `d.Verdict == "" && g.config.Sandboxed()`,
		"TestGitLeavesTheSandboxOnlyWithApproval",
	},
	{
		"tools/exec/git/run.go", `	c.Argv = append([]string{found}, c.Argv[1:]...)
`, `	_ = found
`,
		"TestGitIsNotFoundInTheWorkspace",
	},
	{
		"tools/exec/shell_run.go", `if v, refusal = s.look(c.Arguments); refusal == nil && !v.listed {`, `if refusal == nil && !v.listed {`,
		"TestHarmlessCommandsWaitForTheSandbox",
	},
	{
		"tools/exec/shell_run.go", `open, err := host.Alone(ctx, s.config.Gate)`, `open, err := host.Alone(ctx, new(sandbox.Gate))`,
		"TestHarmlessCommandsWaitForTheSandbox",
	},
	// From here on the memory.
	{
		"engine/internal/memory/facts.go", `if err := Drop(tx, store.KindMemory, int64(id)); err != nil {`, `if err := Drop(tx, store.KindMemory, -int64(id)); err != nil {`,
		"TestWhatIsForgottenIsFoundByNothing",
	},
	{
		"engine/internal/memory/facts.go", `return &old, Forget(tx, old.ID)`, `return &old, nil`,
		"TestTheSameKeyReplaces",
	},
	{
		"engine/internal/corememory/core.go", `if err := atomicfile.Write(c.backup(), old, 0o600); err != nil {`, `if err := atomicfile.Write(c.backup(), old[:0], 0o600); err != nil {`,
		"TestCoreMemoryUndo",
	},
	{
		"engine/internal/memory/index.go", `before, err := tx.Index().ChunksBefore(gone[0], 2*reach)`, `before, err := tx.Index().ChunksBefore(gone[0], reach)`,
		"TestSearchFindsWhatAPlainLookFinds",
	},
	{
		"engine/internal/memory/bits.go", `seen.chunks = s.chunks[:n]`, `_ = n`,
		"TestOthersSearchMeanwhile",
	},
	{
		"engine/internal/memory/rank.go", `best = max(best, r.full)`, `best = max(best, 0)`,
		"TestWordsThatSayLittleGiveWay",
	},
	{
		"engine/internal/embed/embed.go", `return nil, ErrUnread`, `own = 0`,
		"TestModelSaysWhatItCannotRead",
	},
	{
		"engine/internal/corememory/lock.go", `err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)`, `var err error`,
		"TestTwoProcessesChangeTheCoreMemory",
	},
	{
		"engine/internal/memory/messages.go", `if asksTool.MatchString(`, `if false && asksTool.MatchString(`,
		"TestSearchesAreNotFound",
	},
	{
		"engine/internal/embed/centre.go", `centred[i] = query[i] - mean[i]`, `centred[i] = query[i] - 0*mean[i]`,
		"TestCentredQueries",
	},
	{
		"engine/internal/corememory/part.go", `p.others = sections`, `p.others = nil`,
		"TestCoreMemoryKeepsUnknownSections",
	},
	{
		"engine/internal/prompt/recall.go", `return true // asked before`, `return false // asked before`,
		"engine: TestRecallGoesPastTheQuestionItself",
	},
	{
		"engine/internal/embed/wordpiece.go", `room := limit - len(w.after)`, `room := limit`,
		"TestTokens",
	},
	{
		"engine/internal/recall/tools.go", `chat.ID == c.User && r.config.Settings().Owns(chat.Channel, c.User)`, `true`,
		"engine: TestMemoryIsOfTheChatThatSavedIt",
	},
	{
		"engine/internal/prompt/recall.go", `Before: int64(w.First),`, `Before: 0,`,
		"engine: TestRecallShowsNothingTwice",
	},
	{
		"engine/internal/summary/summary.go", `if m.config.Tokens.Text(summary) >= m.config.Tokens.Text(past.Summary.Text)+m.config.Tokens.Messages(store.Bodies(old)) {`, `if summary == "" {`,
		"engine: TestSummaryThatIsOfNoUseChangesNothing",
	},
	// From here on the web and the screen.
	{
		"tools/web/web.go", `w.guarded = httpclient.New(httpclient.Options{Guard: w.guard(), `, `w.guarded = httpclient.New(httpclient.Options{`,
		"TestPrivateAddressesAreDenied",
	},
	{
		"tools/web/web.go", `	return &httpclient.Guard{Hosts: func() httpclient.Hosts {
		list, _ := w.config.AllowedHosts()
`, `	list, _ := w.config.AllowedHosts()
	return &httpclient.Guard{Hosts: func() httpclient.Hosts {
`,
		"TestScenarioAllowedHostsAreLive",
	},
	{
		"tools/web/browser/proxy.go", `dial: httpclient.NewDial(o), listener`, `dial: httpclient.NewDial(httpclient.Options{Resolver: resolver}), listener`,
		"TestProxyTunnels|TestPrivateAddressesAreDenied",
	},
	{
		"tools/web/browser/proxy.go", `Transport: httpclient.New(o).Transport,`, `Transport: httpclient.New(httpclient.Options{Resolver: resolver, Raw: true}).Transport,`,
		"TestPrivateAddressesAreDenied",
	},
	{
		"tools/web/browser/proxy.go", `if r.URL.Scheme != "http" || r.URL.Host == "" {`, `if r.URL.Scheme == "" {`,
		"TestProxyRefusesOtherRequests",
	},
	{
		"tools/web/request.go", `if _, refusal := w.prepare(context.Background(), a); refusal != nil {`, `if _, refusal := w.prepare(context.Background(), a); refusal != nil && a.URL == "" {`,
		"TestScenarioPreValidate",
	},
	{
		"tools/web/request.go", `return err != nil || a.Method != http.MethodGet && a.Method != http.MethodHead`, `return err != nil || a.Method == http.MethodPost`,
		"TestScenarioPreValidate",
	},
	{
		"tools/web/response.go", `io.LimitReader(plain, limit+1)`, `io.LimitReader(plain, 20*limit)`,
		"TestBombs",
	},
	{
		"tools/web/response.go", `kept := strings.ToValidUTF8(text[:min(whole, limit)], "")`, `kept := strings.ToValidUTF8(text, "")`,
		"TestCaps",
	},
	{
		"tools/web/encoding.go", `slices.Contains(sealed, encoding), `, `slices.Contains(sealed[:0], encoding), `,
		"TestContentEncodings",
	},
	{
		"tools/web/page/readable.go", `	unsightly(doc)
`, ``,
		"TestStyleSheetsHide",
	},
	{
		"tools/web/page/tame.go", `		text = "<" + ownPrefix + text[1:]`, ``,
		"TestHugeMarkdownIsAvoided",
	},
	{
		"tools/web/page/flatten.go", `cells+more <= maxCells`, `cells+more <= 20*maxCells`,
		"TestHugeMarkdownIsAvoided",
	},
	{
		"engine/internal/archive/unpack.go", `h.Size > u.most-u.claimed`, `h.Size < 0`,
		"TestUnpackRefusesWhatSwells",
	},
	{
		"tools/web/page/readable.go", ` || unseen(child) {`, ` {`,
		"TestStyleSheetsHide",
	},
	{
		"tools/web/page/hide.go", `own = [properties]verdict{} // a page is visible`, ``,
		"TestStyleSheetsHide",
	},
	{
		"tools/web/browser/profile.go", `		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
`, ``,
		"TestSweep",
	},
	{
		"tools/web/browser/profile.go", `if os.RemoveAll(h.dir) == nil && !found {`, `if h.dir != "" || found {`,
		"TestSweep",
	},
	{
		"internal/httpclient/httpclient.go", `	if o.Proxy {`, `	if o.Guard == nil || o.Proxy {`,
		"TestTakesNoProxyUnlessAsked",
	},
	{
		"internal/httpclient/httpclient.go", `DisableKeepAlives:      o.Guard != nil,`, `DisableKeepAlives:      o.Proxy,`,
		"TestHostsAreReadForEveryConnection",
	},
	{
		"internal/httpclient/address.go", `	if within(addr, special) {`, `	if addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() {`,
		"TestURLs|TestSpecialAddresses",
	},
	{
		"internal/httpclient/address.go", `return within(addr, private) && !within(addr, metadata)`, `return within(addr, private)`,
		"TestURLs|TestHosts.*|TestSpecialAddresses",
	},
	{
		"internal/httpclient/guard.go", `if u.User != nil {`, `if u.User.Username() == "root" {`,
		"TestURLs",
	},
	{
		"internal/httpclient/host.go", `if numeric(name) {`, `if name == "0" {`,
		"TestNumbersInOddSpellings",
	},
	{
		"internal/httpclient/host.go", `err != nil || back != name {`, `err != nil || back == "" {`,
		"TestLookAlikes",
	},
	{
		"tools/injection/fold.go", `f.out = append(f.out, foldTable()[r]...)`, `f.out = utf8.AppendRune(f.out, unicode.ToLower(r))`,
		"TestDisguises",
	},
	{
		"tools/injection/fold.go", `if p = foldRune(r); f.others == nil {`, `if p = string(unicode.ToLower(r)); f.others == nil {`,
		"TestDisguises",
	},
	{
		"tools/injection/fold.go", `if len(f.tagged) >= minUnseen {`, `if len(f.tagged) < 0 {`,
		"TestDisguises",
	},
	{
		"tools/injection/fold.go", `case c == '&' && f.entity(), c == '\\' && f.escape(), c == '%' && f.percent():`, `case c == '&' && f.entity():`,
		"TestDisguises",
	},
	{
		"tools/injection/views.go", `	if f.tags {`, `	if f.tags && f.coded {`,
		"TestDisguises",
	},
	{
		"tools/injection/views.go", `	if f.coded {`, `	if f.coded && f.tags {`,
		"TestDisguises",
	},
	{
		"tools/injection/reader.go", `t.is = r.disguised(r.text[i:end], ascii, other)`, `t.is = r.disguised(r.text[i:i], ascii, other)`,
		"TestDisguises",
	},
	{
		"tools/injection/delimiter.go", `		case !knownToken.Match(token):
			return 3, false`, `		case len(token) > 0:
			return 3, false`,
		"TestRoleTokens",
	},
	{
		"tools/injection/delimiter.go", `	weight, hard = 7, true
	default:`, `	weight, hard = 0, true
	default:`,
		"TestRoleTokens",
	},
	{
		"tools/outside.go", `if r.Own && v.Level == injection.None && injection.Defuse(r.Output) == r.Output {`, `if r.Own {`,
		"TestOwnTextIsNotFromOutside",
	},
	{
		"tools/outside.go", `strings.TrimSuffix(injection.Defuse(r.Output), "\n") + "\n" + end`, `strings.TrimSuffix(r.Output, "\n") + "\n" + end`,
		"TestOutsideDataIsWrapped",
	},
	{
		"tools/outside.go", `ID: rand.Text()[:12], Tool`, `ID: ("outside data" + rand.Text())[:12], Tool`,
		"TestOutsideDataIsWrapped",
	},
	{
		"tools/outside.go", `Tool: spec.Name, Source: p.source(r.Source), Level`, `Tool: spec.Name, Source: r.Source, Level`,
		"TestOutsideDataIsWrapped",
	},
	{
		"tools/outside.go", `		r.Error = fmt.Sprintf(withheld, rules, "failed")
		r.Output = "Error: " + r.Error`, `		r.Output = "Error: " + fmt.Sprintf(withheld, rules, "failed")`,
		"TestInjectionsAreWithheld",
	},
	{
		"tools/outside.go", `		r.Data = nil
`, ``,
		"TestInjectionsAreWithheld",
	},
	{
		"tools/outside.go", `outside := c.Heard || c.Origin`, `outside := c.Origin`,
		"TestUntrustedWritesAreScreened",
	},
	{
		"tools/steer.go", `if c.Owner && !c.Others && (!c.Heard || a == Full) {`, `if c.Owner || c.Chat != "" {`,
		"TestSteering",
	},
	{
		"tools/steer.go", `return c.Owner && !c.Others && !c.Heard || c.Steers() && c.Decided.Verdict == Ask`, `return c.Owner || c.Decided.Verdict == Ask`,
		"TestSteering",
	},
	{
		"tools/outside.go", `!outside && c.Owner && !c.Others {`, `!outside {`,
		"TestUntrustedWritesAreScreened",
	},
	{
		"tools/file/steer.go", `if named(p.name) || named(p.shown) {`, `if named(p.shown) {`,
		"TestSteeringFilesNeedAnOwner",
	},
	{
		"tools/file/steer.go", `slices.ContainsFunc(Steering(), leads) ||`, `false &&`,
		"TestSteeringFilesNeedAnOwner",
	},
	{
		"tools/file/steer.go", `slices.ContainsFunc(skillPaths(p.root), leads)`, `false`,
		"TestSteeringFilesNeedAnOwner",
	},
	{
		"tools/file/steer.go", `strings.EqualFold(first, s) &&`, `first == s &&`,
		"TestSteeringFilesNeedAnOwner",
	},
	{
		"tools/file/steer.go", `v.Level == injection.Block {`, `v.Level > injection.Block {`,
		"TestInjectionIsNotWrittenIntoPrompts",
	},
	{
		"tools/file/steer.go", `guarded := steers(p)`, `guarded := p.name == ""`,
		"TestUndoOfSteeringFileNeedsOwner",
	},
	{
		"tools/file/alter.go", `if !a.call.Steers() && steers(p) {`, `if !a.call.Steers() && p.name == "" {`,
		"TestLinkSwappedInIsRefused",
	},
	{
		"tools/sandbox/keep/keep.go", `slices.EqualFunc(k.below, now.below,`, `len(k.below) == len(now.below) || slices.EqualFunc(k.below, now.below,`,
		"tools/sandbox: TestSandboxKeepsReadOnlyFolders",
	},
	{
		"tools/sandbox/confined.go", `filepath.Base(name) != name ||`, ``,
		"TestSandboxKeepsReadOnlyFolders",
	},
	{
		"cmd/klawbot/internal/bot/sandbox.go", `if !c.SteersByCommand() {`, `if !c.SteersByCommand() && c.Owner {`,
		"TestCommandsDoNotSteerTheBot",
	},
	{
		"engine/internal/workspace/workspace.go", `v.Level == injection.Block && name != HeartbeatFile`, `v.Level > injection.Block && name != HeartbeatFile`,
		"TestInjectionsStayOutOfThePrompt",
	},
	{
		"engine/internal/workspace/shelf.go", `v.Level == injection.Block {`, `v.Level > injection.Block {`,
		"TestSkillsThatLookLikeInjectionsAreNotUsed",
	},
	{
		"engine/internal/corememory/part.go", `if refused(factLine(key, s.facts[key])) {`, `if refused("") {`,
		"TestScreenedPart",
	},
	{
		"engine/internal/corememory/part.go", `text != "" && refused(text)`, `text != "" && refused("")`,
		"TestScreenedPart",
	},
	{
		"engine/internal/corememory/part.go", `maps.Copy(all.Agent, farther.Agent)`, `maps.Copy(all.User, farther.Agent)`,
		"TestNearerPartOfTheCoreMemory",
	},
	{
		"engine/internal/corememory/part.go", `if part.size() > maxPart {`, `if part.size() > maxCore {`,
		"TestPartsOfTheCoreMemoryAreBounded",
	},
	{
		"engine/internal/corememory/part.go", `return oneLine(key) + ": " + oneLine(value)`, `return key + ": " + value`,
		"TestFactsStayOnOneLine",
	},
	{
		"engine/internal/corememory/chats.go", `case id.ID < 0:
		return []Place{{Kind: KindChats, ID: id.String()}, {}}`, `case id.ID < 0:
		return []Place{{Kind: KindChats, ID: id.String()}, {Kind: KindPeople, ID: "telegram_11"}, {}}`,
		"TestCoreMemoryOfAChat",
	},
	{
		"engine/internal/turn/calls.go", `if t.Job != nil && home.Chat != t.Outbox.Now(t.Job.Workplace).Chat {`, `if t.Job != nil && home.Chat != home.Chat {`,
		"TestCoreMemoryOfARun",
	},
	{
		"engine/internal/corememory/injection.go", `kept, left := part.Screened(refusedInPrompt)`, `kept, left := part.Screened(func(string) bool { return false })`,
		"TestPromptsGetNoInjectionFromTheCoreMemory",
	},
	{
		"engine/internal/corememory/chats.go", `section == SectionAgent && facts.At(Place{}).Holds(section, key)`, `section == "" && facts.At(Place{}).Holds(section, key)`,
		"TestChangesOfTheCoreMemory",
	},
	{
		"engine/internal/schedule/author.go", `h.isOwner(from) && !h.isOwner(wrote) && sharesLine`, `h.isOwner(wrote) && !h.isOwner(from) && sharesLine`,
		"TestTaskKeepsAuthor",
	},
	{
		"cmd/klawbot/internal/keys/keys.go", `if len(name) > maxKeyName {`, `if len(name) > 1<<30 {`,
		"TestLongKeysCostNothing",
	},
	{
		"cmd/klawbot/archive.go", `return false, errors.Join(err, root.Remove(name))`, `return false, err`,
		"TestImportLeavesNoHalfFile",
	},
	{
		"tools/exec/git/run.go", `"http.followRedirects=false", `, ``,
		"TestGitFollowsNoRedirect",
	},
	{
		"engine/internal/wording/wording.go", `case a.Question && a.AnsweredBy != 0:`, `case false:`,
		"engine: TestAnswerThatMayNotHaveArrived",
	},
	{
		"engine/internal/chatqueue/queue.go", `if !stopped {`, `if !stopped || len(items) > 0 {`,
		"engine: TestStopDropsWhatCouldNotBegin",
	},
	{
		"engine/internal/confined/confined.go", `if sandbox.Confines() {`, `if sandbox.Confines() && job.Input == "/" {`,
		"TestChildReachesNothingElse",
	},
	{
		"engine/internal/confined/confined.go", `if !prepared.Load() {`, `if job.Limit < 0 {`,
		"TestProgramWithoutMainStartsNoChild",
	},
	{
		"engine/internal/document/archive.go", `case c.n > freeBytes && c.n > c.packed*maxRatio:`, `case c.n < 0:`,
		"TestBadDocuments",
	},
	{
		"engine/internal/document/archive.go", `if len(z.File) > maxEntries {`, `if len(z.File) > 1<<20 {`,
		"TestBadDocuments",
	},
	{
		"engine/internal/document/xml.go", `if s.depth++; s.depth > maxDepth {`, `if s.depth++; s.depth > 1<<20 {`,
		"TestBadDocuments",
	},
	{
		"engine/internal/document/xml.go", `return nil, &confined.Fault{Kind: confined.TooMuch, Detail: "it has a DTD"}`, `continue`,
		"TestBadDocuments",
	},
	{
		"tools/media/media.go", `Timeout: readTime, Outside: true,`, `Timeout: readTime,`,
		"TestDocumentIsUntrusted",
	},
}
