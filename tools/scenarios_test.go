package tools_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scenarios are the behaviours that the seed systems try of the tools that act on
// the world, and the tests that try them here.
var scenarios = map[string][]string{
	"shell: pre_validate at each level of autonomy":     {"exec TestPreValidateShellByAutonomy"},
	"git: pre_validate at each level of autonomy":       {"exec/git TestGitScenarios", "exec/git TestGitCorpus"},
	"http_request: pre_validate by method and autonomy": {"web TestScenarioPreValidate"},
	"code_execute: asks, refused when read-only":        {"exec TestCodeAsks"},
	"mcp and plugins: ask unless marked read-only":      {"mcp TestToolsAskUnlessTheOwnerSaysTheyRead", "plugin TestPluginNeedsApprovalUnlessReadOnly"},
	"force push and force checkout, all spellings":      {"exec/git TestGitScenarios", "exec/git TestGitCorpus"},
	"exec mode deny, allowlist, full: hit and miss":     {"exec TestExecModes", "exec TestRefusedCommandDoesNotRun", "exec TestEmptyListAllowsNothing"},
	"dangerous commands":                                {"exec/command TestDangerousCommands", "exec/command TestOrdinaryCommandsAreNotBlocked"},
	"sensitive files":                                   {"exec/command TestSensitiveFiles"},
	"custom rules":                                      {"exec TestCustomRulesForbidCommands"},
	"shell: stdout, stderr, exit code, empty output":    {"exec TestStdoutStderrAndExitCode"},
	"shell: workdir, and none outside":                  {"exec TestShellWorkdir"},
	"shell: no workspace":                               {"exec TestNoWorkspace"},
	"shell: invalid arguments":                          {"exec TestInvalidArguments"},
	"shell: background":                                 {"exec TestBackgroundJob", "exec TestJobsEndWithTheBot"},
	"shell: flood of output":                            {"exec TestFloodOfOutput", "sandbox TestOutputOf200MegabytesCostsLittle", "sandbox TestSandboxedOutputOf200MegabytesCostsLittle"},
	"tool timeout, and no process is left":              {"exec TestToolTimeoutLeavesNoProcess", "exec TestTimeoutOfACall", "sandbox TestOffLeavesNoProcessBehindAtTheDeadline", "sandbox TestSandboxLeavesNoProcessBehindAtTheDeadline"},
	"sandbox: off hides code_execute":                   {"exec TestCodeIsHiddenWithoutASandbox"},
	"sandbox: what is missing is never replaced":        {"sandbox TestSandboxReportsMissingParts"},
	"sandbox: memory":                                   {"sandbox TestSandboxBoundsTheMemory"},
	"sandbox: processors":                               {"sandbox TestSandboxBoundsTheProcessors"},
	"sandbox: processes":                                {"sandbox TestSandboxBoundsTheProcesses"},
	"sandbox: time":                                     {"sandbox TestSandboxBoundsTheTime"},
	"sandbox: disk":                                     {"sandbox TestSandboxBoundsTheDisk"},
	"sandbox: network":                                  {"sandbox TestSandboxHasNoNetwork"},
	"sandbox: files of the machine":                     {"sandbox TestSandboxHidesTheFilesOfTheHost", "sandbox TestSandboxChangesNothingOutside"},
	"sandbox: environment":                              {"sandbox TestSandboxHidesTheEnvironmentOfTheBot"},
	"sandbox: no mount that opens it":                   {"sandbox TestSandboxRefusesUnsafeMounts"},
	"code_execute: files go to the chat":                {"exec TestCodeSendsItsOutputFolder"},
	"code_execute: timeout is told":                     {"exec TestCodeReportsTimeout"},
	"shell: every program of a line, and no operators":  {"exec TestApprovedListRunsProgramByProgram", "exec/command TestNotPlain", "exec/command TestCorpus"},
	"shell: approved runs as shown, denied does not":    {"exec TestApprovedCommandRunsAsShown", "exec TestApprovalIsForTheScriptAsItWas", "exec TestApprovalIsForTheFolderAsItWas", "exec TestRefusedCommandDoesNotRun"},
	"shell: aliases and their timeouts":                 {"exec TestShellAliases"},
	"shell: environment is an allow list":               {"exec TestEnvironmentOfCommands", "sandbox TestOffPassesOnlyTheListedVariables"},
	"git: nothing runs for what a repository says":      {"exec/git TestGitRunsNothingOfTheRepository", "exec/git TestGitRunsNoHooks", "exec/git TestGitRefusesNestedRepositories"},
	"git: nothing is written or reached outside":        {"exec/git TestGitWritesThroughNoLink", "exec/git TestGitKeepsToItsRepository", "exec/git TestGitTransports"},
	"git: prints no credentials":                        {"exec/git TestGitPrintsNoCredentials"},
	"sandbox: files that runs leave as they are":        {"sandbox TestSandboxKeepsReadOnlyFiles", "exec TestCodeKeepsReadOnlyFilesAsTheyAre", "exec/git TestGitKeepsReadOnlyFiles", "plugin TestPluginInASandboxKeepsFiles"},
	"sandbox: shell in it":                              {"exec TestShellInASandbox"},
	"code_execute: a broken limit is named":             {"exec TestCodeReportsBrokenLimit"},
	"code_execute: output is cut":                       {"exec TestCodeCutsItsOutput"},
	"code_execute: invalid arguments, no workspace":     {"exec TestCodeReportsFailedStart"},
	"http: headers, aliases, no proxy":                  {"web TestHeaders", "web TestAliases", "web TestNoProxyOfTheEnvironment"},
	"web_search: backends, hidden without one":          {"web TestSearchBackends", "web TestSearchIsHidden"},
	"browser: a form, and nothing inside":               {"web/browser TestBrowserForm", "web/browser TestBrowserStaysOutside"},
	"mcp: names, changes, crashes, environment":         {"mcp TestNames", "mcp TestToolThatChangesIsOffUntilItIsAccepted", "mcp TestServerThatCrashesIsStartedAgain", "mcp TestServerSeesNothingOfTheEnvironment"},
	"plugins: examples of the manual":                   {"plugin TestPluginsOfTheManual"},
	"plugins: specs that cannot be used, that hang":     {"plugin TestSpecsThatCannotBeUsed", "plugin TestSpecThatHangs"},
	"plugins: shadow nothing, are only the owner's":     {"plugin TestPluginNeverShadowsABuiltIn", "plugin TestFilesThatAreNotPlugins", "plugin TestOnlyTheOwnerMayChangeAPlugin"},
	"policy: allow, deny, groups, deny wins":            {". TestPolicyDecisions", ". TestLayersOnlyNarrow", ". TestPolicyRefusesInWords"},
	"pipeline: unknown tool, bad arguments, panic":      {". TestFind", ". TestFaultsAreNamed", ". TestPanicIsAResult"},
	"http: SSRF":                        {"web TestScenarioSSRF", "../internal/httpclient TestURLs", "../internal/httpclient TestRebinding"},
	"http: allowed_hosts are live":      {"web TestScenarioAllowedHostsAreLive"},
	"http: redirects are not followed":  {"web TestScenarioRedirectsAreNotFollowed"},
	"http: HTML strip, 200 KB, extract": {"web TestScenarioHTMLStrip", "web TestScenarioExtract", "web TestCaps"},
	"http: timeout":                     {"web TestScenarioTimeout"},
	"http: binary content":              {"web TestContents"},
}

// TestSeedScenariosHaveTheirTests holds the table to the tests that there are.
func TestSeedScenariosHaveTheirTests(t *testing.T) {
	tests := map[string]map[string]bool{} // by folder
	for scenario, names := range scenarios {
		for _, name := range names {
			folder, test, _ := strings.Cut(name, " ")
			if tests[folder] == nil {
				tests[folder] = testsIn(t, folder)
			}
			if !tests[folder][test] {
				t.Errorf("%s: there is no %s in %s", scenario, test, folder)
			}
		}
	}
}

// testsIn are the names of the tests in a folder.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
