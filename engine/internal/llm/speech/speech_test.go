package speech_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/llm/protocol"
	"klawbot/engine/internal/llm/speech"
)

var speechTools = []llm.Tool{
	{Name: "current_time", Parameters: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`)},
	{Name: "file_read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}`)},
}

// heard is what came of a text.
type heard struct{ said, thought, calls string }

// hear lets a model say text in pieces of so many bytes, and checks that what was shown
// while it streamed is the final text.
func hear(t *testing.T, text string, size int) (h heard) {
	t.Helper()
	shown := ""
	s := speech.New(func(ev llm.Event) {
		if ev.Unsaid {
			shown = ""
		}
		shown += ev.Text
	}, speech.Reading{Tools: speechTools})
	for rest := text; rest != ""; {
		n := min(size, len(rest))
		s.Say(rest[:n])
		rest = rest[n:]
	}
	var calls []string
	for _, c := range speech.PrintedCalls(s.End(), speechTools, "p") {
		calls = append(calls, c.Name+c.Arguments)
	}
	h.calls = strings.Join(calls, " ")
	defer func() { h.said = strings.TrimSpace(h.said) }()
	for _, b := range s.Blocks(llm.Thinking{}) {
		h.said += b.Text
		if b.Thinking != nil {
			h.thought = b.Thinking.Text
		}
	}
	if strings.TrimSpace(shown) != strings.TrimSpace(h.said) {
		t.Errorf("%q in pieces of %d: shown %q, said %q", text, size, shown, h.said)
	}
	return h
}

const clock = `current_time{}`

var speechCases = []struct {
	name, text, said, thought, calls string
}{
	{"think-tag-of-an-unknown-model", "<think>they ask about sums</think>It is 4.", "It is 4.", "they ask about sums", ""},
	{"second-think-block", "<think>plan one</think>\n<think>plan two</think>It is 4.", "It is 4.", "plan one\n\nplan two", ""},
	{"end-token", "It is 4.<|im_end|>", "It is 4.", "", ""},
	{"harmony-channels", "<|channel|>analysis<|message|>be brief<|end|><|start|>assistant<|channel|>final<|message|>It is 4.", "It is 4.", "be brief", ""},
	{"call-in-text", "<tool_call>current_time\n</tool_call>", "", "", clock},

	// Other tags, more blocks, other places.
	{"three blocks with text between", "<think>a</think>One.\n<think>b</think>\nTwo.\n\n<think>c</think>\n", "One.\nTwo.", "a\n\nb\n\nc", ""},
	{"a block behind a sentence", "<think>a</think>One.<think>b</think>Two.", "One.\n\nTwo.", "a\n\nb", ""},
	{"thinking", "<thinking>a</thinking>\n\nb", "b", "a", ""},
	{"thought", "<thought>a</thought>b", "b", "a", ""},
	{"reasoning in capitals", "<Reasoning>\na\n</Reasoning>\nb", "b", "a", ""},
	{"attributes", `<think effort="low">a</think>b`, "b", "a", ""},
	{"a name space", "<seed:think>a</seed:think>b", "b", "a", ""},
	{"Kimi's triangles", "◁think▷размышление◁/think▷Ответ: 4.", "Ответ: 4.", "размышление", ""},
	{"Magistral's brackets", "[THINK]a[/THINK]b", "b", "a", ""},
	{"Cohere", "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "b", "a", ""},
	{"begin of thought", "<|begin_of_thought|>a<|end_of_thought|><|begin_of_solution|>b<|end_of_solution|>", "b", "a", ""},
	{"Gemma's channel", "<|channel>thought\na\n<channel|>b", "b", "a", ""},
	{"a byte order mark", "\ufeff<think>a</think>b", "b", "a", ""},
	{"a blank without width", "\u200b<think>a</think>b", "b", "a", ""},
	{"empty block", "<think>\n\n</think>\n\nb", "b", "", ""},
	{"self-closing", "<think/>b", "b", "", ""},
	{"cut in thinking", "<think>they ask ab", "", "they ask ab", ""},
	{"cut in a later block", "<think>a</think>b\n\n<think>c", "b\n\n", "a\n\nc", ""},
	{"cut in a tag", "b\n<thi", "b\n<thi", "", ""},
	{"the template opened it", "they ask about sums\n</think>\n\nIt is 4.", "It is 4.", "they ask about sums", ""},
	{"the template opened it, one line", "they ask about sums</think>It is 4.", "It is 4.", "they ask about sums", ""},
	{"a mention inside thinking", "<think>They ask about </think> tags, so explain.</think>It ends thinking.", "It ends thinking.", "They ask about </think> tags, so explain.", ""},
	{"a space before the end", "<think>sums </think> It is 4.", "It is 4.", "sums </think> It is 4.", ""},

	// Calls that are the whole answer, and JSON without its end.
	{"a function", `current_time(zone="UTC")`, "", "", `current_time{"zone":"UTC"}`},
	{"a function of JSON", `current_time({"zone":"UTC"})`, "", "", `current_time{"zone":"UTC"}`},
	{"a name and JSON", "current_time\n{\"zone\":\"UTC\"}", "", "", `current_time{"zone":"UTC"}`},
	{"a function in a sentence", "current_time() returns the time.", "current_time() returns the time.", "", ""},
	{"a name in a sentence", "current_time (UTC) is 12:00.", "current_time (UTC) is 12:00.", "", ""},
	{"OpenAI's wrapper as a function", `multi_tool_use.parallel({"tool_uses":[{"recipient_name":"functions.current_time","parameters":{}}]})`, "", "", clock},
	{"a channel without tokens at the beginning", `assistantcommentary to=functions.current_time json{"zone":"UTC"}`, "", "", `current_time{"zone":"UTC"}`},
	{"a call in Python's quotes", "{'name': 'current_time', 'arguments': {'zone': 'UTC'}}", "", "", `current_time{"zone":"UTC"}`},
	{"tool_input", `{"tool_name":"current_time","tool_input":{}}`, "", "", clock},
	{"tool_call", `{"tool_call":{"name":"current_time","arguments":{}}}`, "", "", clock},
	{"a brace too few", `{"name":"current_time","arguments":{}`, "", "", clock},
	{"half a call", `{"name":"file_read","arguments":{"path":"no`, "", "", ""},
	{"half of other JSON", `{"name":"Anna","age":`, `{"name":"Anna","age":`, "", ""},
	{"a message of a protocol", `{"role":"assistant","content":"It is 4."}`, "It is 4.", "", ""},
	{"a message of somebody", `{"role":"user","content":"It is 4."}`, `{"role":"user","content":"It is 4."}`, "", ""},

	// People ask about the markers.
	{"tags in code", "Write `<think>` and `</think>`, or ``<|im_end|>``.", "Write `<think>` and `</think>`, or ``<|im_end|>``.", "", ""},
	{"tags in a sentence", "The tags <think> and </think> surround reasoning.", "The tags <think> and </think> surround reasoning.", "", ""},
	{"tags of a thinker in a sentence", "<think>hm</think>The tags <think> and </think> surround it.", "The tags <think> and </think> surround it.", "hm", ""},
	{"tags in a block", "So:\n```\n<think>\na\n</think>\n<|im_end|>\n```\n", "So:\n```\n<think>\na\n</think>\n<|im_end|>\n```\n", "", ""},
	{"tags in a block of tildes", "~~~xml\n<think>a</think>\n~~~", "~~~xml\n<think>a</think>\n~~~", "", ""},
	{"an example", "A model writes:\n\n<think>\na\n</think>\n\nand answers.", "A model writes:\n\n<think>\na\n</think>\n\nand answers.", "", ""},
	{"quoted", `It writes "<think>" first, then "<|im_end|>".`, `It writes "<think>" first, then "<|im_end|>".`, "", ""},
	{"a list of tokens", "- ChatML: <|im_end|>\n- Llama: <|eot_id|>\n", "- ChatML: <|im_end|>\n- Llama: <|eot_id|>\n", "", ""},
	{"a token in a sentence", "The token <|im_end|> ends a turn.", "The token <|im_end|> ends a turn.", "", ""},
	{"a call in a sentence", "Wrap it in <tool_call> tags.", "Wrap it in <tool_call> tags.", "", ""},
	{"a sentence about a token", "[TOOL_CALLS] is a token of Mistral.", "[TOOL_CALLS] is a token of Mistral.", "", ""},
	{"a sentence about a call", "<tool_call> opens a call of Qwen.", "<tool_call> opens a call of Qwen.", "", ""},
	{"JSON about an action", `{"action": "buy", "action_input": {}}`, `{"action": "buy", "action_input": {}}`, "", ""},
	{"HTML", "<b>bold</b> and <s>old</s> new, a < b, 1 <2> 3", "<b>bold</b> and <s>old</s> new, a < b, 1 <2> 3", "", ""},
	{"a pipe of F#", "let y = f <| x |> g", "let y = f <| x |> g", "", ""},
	{"brackets", "[TODO] call [Anna](https://a.b) [1]", "[TODO] call [Anna](https://a.b) [1]", "", ""},
	{"a lone back quote", "The ` key.<|im_end|>", "The ` key.", "", ""},
	{"a name that begins with analysis", "analysisResults holds the rows.", "analysisResults holds the rows.", "", ""},
	{"a name that begins with analysis, code", "analysisResults = run()\nprint(analysisResults)", "analysisResults = run()\nprint(analysisResults)", "", ""},
	{"only a name that begins with analysis", "analysisResults", "analysisResults", "", ""},
	{"harmony without its tokens, an unusual beginning", "analysisSums. Easy.assistantfinalIt is 4.", "It is 4.", "analysisSums. Easy.", ""},
	{"harmony without its tokens, without an answer", "analysisWe need to look.", "", "We need to look.", ""},
	{"analysis as a word", "analysis of the text: fine", "analysis of the text: fine", "", ""},

	// Tokens of templates.
	{"Llama 3", "It is 4.<|eot_id|>", "It is 4.", "", ""},
	{"Llama 3, its header", "<|start_header_id|>assistant<|end_header_id|>\n\nIt is 4.<|eot_id|>", "It is 4.", "", ""},
	{"Gemma", "<start_of_turn>model\nIt is 4.<end_of_turn>\n", "It is 4.", "", ""},
	{"ChatML goes on for the user", "It is 4.<|im_end|>\n<|im_start|>user\nThanks<|im_end|>\n<|im_start|>assistant\nYou are welcome", "It is 4.", "", ""},
	{"the prompt again", "<|im_start|>system\nYou are a bot<|im_end|>\n<|im_start|>assistant\nIt is 4.<|im_end|>", "It is 4.", "", ""},
	{"padding", "It is 4.<pad><pad>", "It is 4.", "", ""},
	{"words about padding", "The <pad> token fills batches, and <unk> stands for the rest.", "The <pad> token fills batches, and <unk> stands for the rest.", "", ""},
	{"the end of an utterance", "It is 4.<end_of_utterance>", "It is 4.", "", ""},
	{"thinking by control tokens", "<ctrl94>thought hm<ctrl95>It is 4.", "It is 4.", "thought hm", ""},
	{"another document", "It is 4.<|endoftext|>Human: and 5?", "It is 4.", "", ""},
	{"DeepSeek's end", "It is 4.<｜end▁of▁sentence｜>", "It is 4.", "", ""},
	{"Mistral's end", "<s> It is 4.</s>", "It is 4.", "", ""},
	{"a space before the end token", "It is 4. <|im_end|>", "It is 4. ", "", ""},
	{"a role alone", "<|assistant|>\nIt is 4.<|end|>", "It is 4.", "", ""},
	{"Kimi's roles", "<|im_assistant|>assistant<|im_middle|>It is 4.<|im_end|>", "It is 4.", "", ""},
	{"harmony without its tokens", "analysisThe user asks sums.assistantfinalIt is 4.", "It is 4.", "The user asks sums.", ""},
	{"harmony without its tokens, with the role", "assistantanalysisThe user asks sums.assistantfinalIt is 4.", "It is 4.", "The user asks sums.", ""},
	{"harmony, only the final channel", "<|channel|>final<|message|>It is 4.<|return|>", "It is 4.", "", ""},
	{"harmony, a preamble", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant<|channel|>final<|message|>b", "Let me look.\n\nb", "a", ""},
	{"box of GLM", "<think>a</think><|begin_of_box|>4<|end_of_box|>", "4", "a", ""},

	// Calls.
	{"Hermes", "<tool_call>\n{\"name\": \"current_time\", \"arguments\": {\"zone\": \"UTC\"}}\n</tool_call>", "", "", `current_time{"zone": "UTC"}`},
	{"Hermes, two and words", "Let me look.\n<tool_call>{\"name\":\"current_time\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"file_read\",\"arguments\":{\"path\":\"a\"}}</tool_call>", "Let me look.\n", "", clock + ` file_read{"path":"a"}`},
	{"Hermes, never closed", "<tool_call>{\"name\":\"current_time\",\"arguments\":{}}", "", "", clock},
	{"Hermes with its tag inside", `<tool_call>{"name":"file_read","arguments":{"path":"</tool_call>"}}</tool_call>`, "", "", `file_read{"path":"</tool_call>"}`},
	{"GLM", "<tool_call>file_read\n<arg_key>path</arg_key>\n<arg_value>a b</arg_value>\n<arg_key>lines</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", "", "", `file_read{"lines":3,"path":"a b"}`},
	{"Qwen Coder", "<tool_call>\n<function=file_read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>", "", "", `file_read{"path":"a"}`},
	{"Qwen Coder, bare", "<function=file_read><parameter=path>a</parameter></function>", "", "", `file_read{"path":"a"}`},
	{"Llama's function", `<function=current_time>{"zone":"UTC"}</function>`, "", "", `current_time{"zone":"UTC"}`},
	{"Llama's python tag", `<|python_tag|>{"name": "current_time", "parameters": {}}<|eom_id|>`, "", "", clock},
	{"Llama's python tag, a call", `<|python_tag|>current_time.call(zone="UTC")<|eom_id|>`, "", "", `current_time{"zone":"UTC"}`},
	{"Llama 4", `[current_time(zone='UTC'), file_read(path="a", lines=2)]`, "", "", `current_time{"zone":"UTC"} file_read{"lines":2,"path":"a"}`},
	{"Mistral", `[TOOL_CALLS][{"name": "current_time", "arguments": {}}]`, "", "", clock},
	{"Mistral's newer", `[TOOL_CALLS]file_read[ARGS]{"path": "a"}`, "", "", `file_read{"path": "a"}`},
	{"Mistral's newer, two", `[TOOL_CALLS]file_read[CALL_ID]abc[ARGS]{"path": "a"}[TOOL_CALLS]current_time[ARGS]{}`, "", "", `file_read{"path": "a"} ` + clock},
	{"DeepSeek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>file_read\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>", "", "", `file_read{"path":"a"}`},
	{"DeepSeek 3.1", "Moment.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>file_read<｜tool▁sep｜>{\"path\":\"a\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>current_time<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "Moment.", "", `file_read{"path":"a"} ` + clock},
	{"DeepSeek 3.2", `<｜DSML｜function_calls><｜DSML｜invoke name="file_read"><｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>`, "", "", `file_read{"path":"a"}`},
	{"Kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.file_read:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_calls_section_end|>`, "", "", `file_read{"path":"a"}`},
	{"Kimi without tokens", `functions.file_read:0{"path":"a"}`, "", "", `file_read{"path":"a"}`},
	{"harmony", `<|channel|>analysis<|message|>look<|end|><|start|>assistant<|channel|>commentary to=functions.file_read <|constrain|>json<|message|>{"path":"a"}<|call|>`, "", "look", `file_read{"path":"a"}`},
	{"harmony, recipient with the role", `<|start|>assistant to=functions.current_time<|channel|>commentary json<|message|>{}<|call|>`, "", "", clock},
	{"harmony without tokens", `commentary to=functions.current_time json{}`, "", "", clock},
	{"Gemma 4", `<|tool_call>call:file_read{path:<|"|>a "b"<|"|>,lines:2}<tool_call|>`, "", "", `file_read{"lines":2,"path":"a \"b\""}`},
	{"Granite", `<|tool_call|>[{"name": "current_time", "arguments": {}}]`, "", "", clock},
	{"MiniMax", `<minimax:tool_call><invoke name="file_read"><parameter name="path">a</parameter></invoke></minimax:tool_call>`, "", "", `file_read{"path":"a"}`},
	{"Cohere's action", `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"current_time","parameters":{}}]<|END_ACTION|>`, "", "", clock},
	{"LFM2", `<|tool_call_start|>[current_time()]<|tool_call_end|>`, "", "", clock},
	{"LM Studio", "[TOOL_REQUEST]{\"name\":\"current_time\",\"arguments\":{}}[END_TOOL_REQUEST]", "", "", clock},
	{"OpenAI's wrapper", `{"tool_uses":[{"recipient_name":"functions.current_time","parameters":{}},{"recipient_name":"functions.file_read","parameters":{"path":"a"}}]}`, "", "", clock + ` file_read{"path":"a"}`},
	{"JSON", `{"name":"current_time","arguments":{}}`, "", "", clock},
	{"JSON of OpenAI", `{"type":"function","function":{"name":"current_time","arguments":"{\"zone\":\"UTC\"}"}}`, "", "", `current_time{"zone":"UTC"}`},
	{"JSON behind words", "I look.\n\n{\"name\":\"current_time\",\"parameters\":{}}\n", "I look.\n\n", "", clock},
	{"quotes of Python", `<tool_call>{'name': 'file_read', 'arguments': {'path': "it's", 'lines': None}}</tool_call>`, "", "", `file_read{"lines":null,"path":"it's"}`},
	{"in a block of code", "```json\n{\"name\":\"current_time\",\"arguments\":{}}\n```", "", "", clock},
	{"tool code of Gemma 3", "```tool_code\ncurrent_time(zone=\"UTC\")\n```", "", "", `current_time{"zone":"UTC"}`},
	{"the print of Gemma and Gemini", "```tool_code\nprint(default_api.current_time(zone='UTC'))\n```", "", "", `current_time{"zone":"UTC"}`},
	{"print in a tag", "<tool_code>\nprint(current_time(zone=\"UTC\"))\nprint(file_read(path=\"a\"))\n</tool_code>", "", "", `current_time{"zone":"UTC"} file_read{"path":"a"}`},
	{"print in a string", `<tool_call>{"name":"file_read","arguments":{"path":"print(current_time())"}}</tool_call>`, "", "", `file_read{"path":"print(current_time())"}`},
	{"JSON, tool and args", `{"tool":"file_read","args":{"path":"a"}}`, "", "", `file_read{"path":"a"}`},
	{"JSON, tool and input", `{"tool_name": "current_time", "input": {}}`, "", "", clock},
	{"JSON of LangChain", `{"action": "file_read", "action_input": {"path": "a"}}`, "", "", `file_read{"path": "a"}`},
	{"JSON of OpenAI's functions", `{"function_call":{"name":"current_time","arguments":"{\"zone\":\"UTC\"}"}}`, "", "", `current_time{"zone":"UTC"}`},
	{"only a name", `<tool_call>{"name": "current_time"}</tool_call>`, "", "", clock},
	{"LongCat", "<longcat_tool_call>file_read\n<longcat_arg_key>path</longcat_arg_key>\n<longcat_arg_value>a</longcat_arg_value>\n</longcat_tool_call>", "", "", `file_read{"path":"a"}`},
	{"in thinking that never ended", "<think>I look.\n<tool_call>{\"name\":\"current_time\",\"arguments\":{}}</tool_call>", "", "I look.\n<tool_call>{\"name\":\"current_time\",\"arguments\":{}}</tool_call>", clock},

	// Labels and tags with the name of a tool.
	{"Cline", "<file_read>\n<path>a b</path>\n<lines>3</lines>\n</file_read>", "", "", `file_read{"lines":3,"path":"a b"}`},
	{"Cline, in a line", "I look.\n\n<file_read><path>a</path></file_read>", "I look.", "", `file_read{"path":"a"}`},
	{"Cline, two", "<current_time></current_time>\n<file_read><path>a</path></file_read>", "", "", clock + ` file_read{"path":"a"}`},
	{"Cline, markup in a value", "<file_read><path><b>a</b></path></file_read>", "", "", `file_read{"path":"\u003cb\u003ea\u003c/b\u003e"}`},
	{"a tag with JSON", `<file_read>{"path": "a"}</file_read>`, "", "", `file_read{"path": "a"}`},
	{"an empty tag", "<current_time/>", "", "", clock},
	{"arguments in the tag", `<file_read path="a" lines="3"/>`, "", "", `file_read{"lines":3,"path":"a"}`},
	{"a tag behind a colon", "Let me look:\n<file_read>\n<path>a</path>\n</file_read>", "Let me look:", "", `file_read{"path":"a"}`},
	{"Cline's tag for MCP", "<use_mcp_tool>\n<tool_name>file_read</tool_name>\n<arguments>{\"path\":\"a\"}</arguments>\n</use_mcp_tool>", "", "", `file_read{"path":"a"}`},
	{"OpenHands", `<execute_tool>file_read(path="a")</execute_tool>`, "", "", `file_read{"path":"a"}`},
	{"internal thoughts", "<internal_thoughts>hm</internal_thoughts>Yes.", "Yes.", "hm", ""},
	{"ReAct in bold", "**Action:** file_read\n**Action Input:** {\"path\": \"a\"}", "", "", `file_read{"path": "a"}`},
	{"bold", "**Action** is what we need.\n* one\n", "**Action** is what we need.\n* one\n", "", ""},
	{"a tag of a tool, never closed", "<file_read><path>a", "<file_read><path>a", "", ""},
	{"words about a tag of a tool", "<file_read> reads a file.", "<file_read> reads a file.", "", ""},
	{"XML of another name", "<note><path>a</path></note>", "<note><path>a</path></note>", "", ""},
	{"an example of such a tag", "Write:\n\n<file_read><path>a</path></file_read>\n\nand wait.", "Write:\n\n<file_read><path>a</path></file_read>\n\nand wait.", "", ""},
	{"ReAct", "Thought: I have to look.\nAction: file_read\nAction Input: {\"path\": \"a\"}\nObservation: it is empty\nThought: done\nFinal Answer: empty", "", "Thought: I have to look.", `file_read{"path": "a"}`},
	{"ReAct without a thought", "Action: current_time\nAction Input: {}", "", "", clock},
	{"ReAct, a line of text", "Action: file_read\nAction Input: a\n", "", "", `file_reada`},
	{"ReAct's answer", "Thought: I now know it.\nFinal Answer: It is 4.", "It is 4.", "Thought: I now know it.", ""},
	{"an action that is no tool", "Action: call the doctor\nAction Input: none", "Action: call the doctor\nAction Input: none", "", ""},
	{"minutes of a meeting", "Action: file_read\nOwner: Anna", "Action: file_read\nOwner: Anna", "", ""},
	{"a thought alone", "Thought: it is late.", "Thought: it is late.", "", ""},
	{"Qwen's agent", "✿FUNCTION✿: file_read\n✿ARGS✿: {\"path\": \"a\"}\n✿RESULT✿", "", "", `file_read{"path": "a"}`},
	{"Qwen's agent, two", "I look.\n✿FUNCTION✿: current_time\n✿ARGS✿: {}\n✿FUNCTION✿: file_read\n✿ARGS✿: {\"path\": \"a\"}\n✿RESULT✿: 12:00\n✿RETURN✿: It is 12.", "I look.", "", clock + ` file_read{"path": "a"}`},
	{"Qwen's agent answers", "✿RETURN✿: It is 4.", "It is 4.", "", ""},
	{"a flower", "✿ for you ✿", "✿ for you ✿", "", ""},
	{"the end in brackets", "It is 4.[EOS]", "It is 4.", "", ""},
	{"the end in brackets, with a space", "It is 4. [EOS]\n", "It is 4.", "", ""},
	{"the end in angles", "It is 4.<EOT>", "It is 4.", "", ""},
	{"words about the end", "[EOS] is a token, and [EOT] another.", "[EOS] is a token, and [EOT] another.", "", ""},
	{"a tag begins the answer", "<think> is a tag that opens thinking, and </think> closes it.", "<think> is a tag that opens thinking, and </think> closes it.", "", ""},
	{"two tags begin the answer", "<think> and </think> surround it.", "<think> and </think> surround it.", "", ""},
	{"a tag as code begins the answer", "`<think>` is a tag that opens thinking, and `</think>` closes it.", "`<think>` is a tag that opens thinking, and `</think>` closes it.", "", ""},
	{"a Russian answer about a tag", "<think> — это тег размышлений.", "<think> — это тег размышлений.", "", ""},
	{"thinking with a space", "<think> okay, they ask about sums</think>It is 4.", "It is 4.", "okay, they ask about sums", ""},
	{"a question in thinking", "<think> is it four? yes</think>It is 4.", "It is 4.", "is it four? yes", ""},

	// Odd ones.
	{"Russian prose", "Тег <think> открывает размышления, а </think> закрывает.", "Тег <think> открывает размышления, а </think> закрывает.", "", ""},
	{"Chinese prose of a thinker", "<think>嗯</think>标签<think>表示思考开始，</think>表示结束。", "标签<think>表示思考开始，</think>表示结束。", "嗯", ""},
	{"opened twice", "<think>\n<think>a</think>\nb", "b", "<think>a", ""},
	{"opened and closed twice", "<think><think>a</think>b</think>c", "c", "<think>ab", ""},
	{"a channel without its start", "<|channel|>analysis<|message|>a<|end|>b", "b", "a", ""},
	{"lines of Windows", "<think>\r\na\r\n</think>\r\n\r\nb", "b", "a", ""},
	{"generics", "Use List<Thought> in Java: Map<String, Thought>.", "Use List<Thought> in Java: Map<String, Thought>.", "", ""},
	{"a list of tokens on lines", "Tokens:\n<|im_start|>\n<|im_end|>\nThat is all.", "Tokens:\n<|im_start|>\n<|im_end|>\nThat is all.", "", ""},
	{"a table of tokens", "| token | use |\n|---|---|\n| <|im_end|> | end |", "| token | use |\n|---|---|\n| <|im_end|> | end |", "", ""},
	{"an answer in tags", "<think>a</think><answer>4</answer>", "4", "a", ""},
	{"an answer in tags that nobody thought", "<answer>4</answer>", "<answer>4</answer>", "", ""},
	{"a role without tokens", "assistant\n\nIt is 4.", "It is 4.", "", ""},
	{"only tokens", "<|im_end|><|im_end|>\n<|im_end|>", "", "", ""},
	{"white space", " \n", "", "", ""},
	{"a call behind a sentence", "Let me check. <tool_call>{\"name\":\"current_time\",\"arguments\":{}}</tool_call>", "Let me check.", "", clock},
	{"tools of Qwen", "<tools>\n{\"name\":\"current_time\",\"arguments\":{}}\n</tools>", "", "", clock},
	{"XML of tools", "<tools>\n<hammer/>\n</tools>", "<tools>\n<hammer/>\n</tools>", "", ""},
	{"Phi", `functools[{"name": "current_time", "arguments": {}}]`, "", "", clock},

	// Seen in the field.
	{"openclaw 70797", "Aku install sshpass dulu sekarang.\n{\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\",\"name\":\"file_read\"}}]}", "Aku install sshpass dulu sekarang.", "", `file_read{"path":"a"}`},
	{"openclaw 70797, another tool", "Sekarang.\n{\"tool_calls\":[{\"function\":{\"arguments\":\"{}\",\"name\":\"process\"}}]}", "Sekarang.", "", ""},
	{"github app 1499", "Of course<function_calls><invoke name=\"file_read\"><parameter name=\"path\">a</parameter></invoke></function_calls>", "Of course", "", `file_read{"path":"a"}`},
	{"zeroclaw 10446", "I do it now.{\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"file_read\",\"arguments\":\"{\\\"path\\\":\\\"it\\'s\\\"}\"}}]}It is done.", "I do it now.\n\nIt is done.", "", `file_read{"path":"it's"}`},
	{"hermes 50279", "I look first.\n\n<invoke name=\"file_read\">\n<parameter name=\"path\">a</parameter>\n</invoke>", "I look first.", "", `file_read{"path":"a"}`},
	{"home-llm 247", "This is known as Rayleigh scattering.\n\n<|im_start|>user\nOkay, so I'm trying", "This is known as Rayleigh scattering.", "", ""},
	{"macprovider 743", "analysisWe need to answer \"What is 2+2?\" And nothing else.assistantfinalfour", "four", "We need to answer \"What is 2+2?\" And nothing else.", ""},
	{"Rapid-MLX 480", "commentary to=functions.file_read json{\"path\":\"Paris\"}", "", "", `file_read{"path":"Paris"}`},
	{"vllm-mlx 562", "<|channel|>analysis<|message|>We need to run it.\n<|end|><|start|>assistant<|channel|>analysis to=functions.file_read code<|message|>\n{\"path\":\"\"}<|call|>", "", "We need to run it.", `file_read{"path":""}`},
	{"osaurus 1505", `<|tool_call>call:file_read({"path":"a"})<tool_call|>`, "", "", `file_read{"path":"a"}`},
	{"sandboxed.sh 530", "<mm:think>hm</mm:think>Yes.", "Yes.", "hm", ""},
	{"Risuai 764", "<Thought>hm</Thought>Yes.", "Yes.", "hm", ""},
	{"Minnow 957", "<think>plan</think>Working.<think>now call</think>", "Working.", "plan\n\nnow call", ""},
	{"meridian 94", `[Tool Use: file_read({"path":"a"})]`, "", "", `file_read{"path":"a"}`},
	{"JSON in a sentence", "Send {\"name\": 1} or {\"content\": null, \"age\": 2}.", "Send {\"name\": 1} or {\"content\": null, \"age\": 2}.", "", ""},

	{"harmony without its tokens, a call", "analysisThey want a file.assistantcommentary to=functions.file_read json{\"path\":\"a\"}", "", "They want a file.", `file_read{"path":"a"}`},
	{"harmony without its tokens, a preamble", "analysisThey want a file.assistantcommentaryI look.assistantfinalIt is empty.", "I look.\n\nIt is empty.", "They want a file.", ""},
	{"a brace too few", "<tool_call>\n{\"name\": \"file_read\", \"arguments\": {\"path\": \"a\"}\n</tool_call>", "", "", `file_read{"path": "a"}`},
	{"two braces", "<tool_call>\n{{\"name\": \"file_read\", \"arguments\": {\"path\": \"a\"}}}\n</tool_call>", "", "", `file_read{"path": "a"}`},
	{"a name in the tag", `<tool_call name="file_read">{"path": "a"}</tool_call>`, "", "", `file_read{"path": "a"}`},
	{"a name in the tag, with parameters", `<function_call name="file_read"><parameter name="path">a</parameter></function_call>`, "", "", `file_read{"path":"a"}`},
	{"FunctionGemma", "<start_function_call>call:file_read{path:<escape>a, b<escape>,lines:2}<end_function_call>", "", "", `file_read{"lines":2,"path":"a, b"}`},
	{"Llama, two", `{"name": "current_time", "parameters": {}}; {"name": "file_read", "parameters": {"path": "a"}}`, "", "", clock + ` file_read{"path": "a"}`},
	{"a call without the name of its argument", `file_read("a.txt")`, "", "", `file_read{"path":"a.txt"}`},
	{"a call without the name of its argument, in Python", "```tool_code\nprint(default_api.file_read('it\\'s.txt'))\n```", "", "", `file_read{"path":"it's.txt"}`},
	{"a call without the name of its only parameter", "current_time('UTC')", "", "", `current_time{"zone":"UTC"}`},
	{"a call with two arguments without names", `file_read("a.txt", 5)`, `file_read("a.txt", 5)`, "", ""},
	{"a call in a sentence, without names", `Use file_read("a.txt") for that.`, `Use file_read("a.txt") for that.`, "", ""},
	{"a label in brackets", `[tool_call: file_read(path="a")]`, "", "", `file_read{"path":"a"}`},
	{"Apriel", "They ask about sums.\n[BEGIN FINAL RESPONSE]\nIt is 4.\n[END FINAL RESPONSE]\n", "It is 4.\n", "They ask about sums.", ""},
	{"a final answer in tags", "<think>a</think><final>4</final>", "4", "a", ""},
	{"an output in tags", "<think>a</think>\n<output>\n4\n</output>", "4\n", "a", ""},
	{"analysis in tags", "<analysis>a</analysis>b", "b", "a", ""},
	{"a citation of OpenAI's files", "It is 4【4:0†source】, they say【12†report.pdf】.", "It is 4, they say.", "", ""},
	{"brackets of Japanese", "【お知らせ】本日は休みです【重要】。", "【お知らせ】本日は休みです【重要】。", "", ""},
	{"a semicolon behind JSON", `{"name": "Anna"}; {"name": "Bob"}`, `{"name": "Anna"}; {"name": "Bob"}`, "", ""},
	{"a commentary on the analysis", "analysis and commentary: fine", "analysis and commentary: fine", "", ""},

	// What cannot be called is kept back, what is no call stays.
	{"a tool that is not there", "<tool_call>{\"name\":\"launch\",\"arguments\":{}}</tool_call>", "", "", ""},
	{"a tool that is not there, GLM", "One moment.\n<tool_call>launch\n</tool_call>", "One moment.\n", "", ""},
	{"half a call", "<tool_call>{\"name\":\"current_time\",\"argum", "", "", ""},
	{"broken JSON and words", "<tool_call>{\"name\" current_time}</tool_call>\nSorry.", "Sorry.", "", ""},
	{"a result that it made up", "<tool_response>12:00</tool_response>\nIt is 12.", "It is 12.", "", ""},
	{"an unknown wrapper", `{"tool_uses":[{"recipient_name":"functions.launch","parameters":{}}]}`, "", "", ""},
	{"an answer in JSON", `{"name": "Anna", "age": 5}`, `{"name": "Anna", "age": 5}`, "", ""},
	{"a call of another tool in JSON", `{"name":"launch","arguments":{}}`, `{"name":"launch","arguments":{}}`, "", ""},
	{"a block of JSON and words", "```json\n{\"name\":\"current_time\",\"arguments\":{}}\n```\nis how.", "```json\n{\"name\":\"current_time\",\"arguments\":{}}\n```\nis how.", "", ""},
	{"a list", "[1, 2, 3]", "[1, 2, 3]", "", ""},
}

func TestSpeechWithoutInternals(t *testing.T) {
	for _, c := range speechCases {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 1, 2, 3, 7, 11} {
				want := heard{strings.TrimSpace(c.said), c.thought, c.calls}
				if got := hear(t, c.text, size); got != want {
					t.Fatalf("%q in pieces of %d:\n got %q\nwant %q", c.text, size, got, want)
				}
			}
			for cut := range len(c.text) {
				hearCut(t, c.text, cut, c.said)
			}
		})
	}
}

// hearCut shows text in two pieces.
func hearCut(t *testing.T, text string, cut int, said string) {
	t.Helper()
	shown := ""
	s := speech.New(func(ev llm.Event) {
		if ev.Unsaid {
			shown = ""
		}
		shown += ev.Text
	}, speech.Reading{Tools: speechTools})
	s.Say(text[:cut])
	s.Say(text[cut:])
	s.End()
	if strings.TrimSpace(shown) != strings.TrimSpace(said) {
		t.Errorf("%q cut at %d: shown %q", text, cut, shown)
	}
}

func TestSpeechJoinsHalvesOfCharacters(t *testing.T) {
	for name, pieces := range map[string][]string{
		"emoji-in-halves":  {`"Well done \ud83c"`, `"\udf89"`},
		"bytes":            {"\"Well done \xF0\x9F\"", "\"\x8E\x89\""},
		"one piece":        {`"Well done \ud83c\udf89"`},
		"a piece between":  {`"Well done \ud83c"`, `""`, `"\udf89"`},
		"half a half":      {"\"Well done \xED\xA0\"", "\"\xBC\xED\xBE\x89\""},
		"with text behind": {`"Well done \uD83C"`, `"\uDF89"`},
	} {
		s := speech.New(func(llm.Event) {}, speech.Reading{})
		thinking := speech.New(func(llm.Event) {}, speech.Reading{})
		for _, piece := range pieces {
			var text protocol.Text
			if err := text.UnmarshalJSON([]byte(piece)); err != nil {
				t.Fatal(err)
			}
			s.Say(string(text))
			thinking.Think(string(text))
		}
		s.End()
		thinking.End()
		if got := s.Blocks(llm.Thinking{}); len(got) != 1 || got[0].Text != "Well done 🎉" {
			t.Errorf("%s: %+v", name, got)
		}
		if got := thinking.Blocks(llm.Thinking{}); len(got) != 1 || got[0].Thinking.Text != "Well done 🎉" {
			t.Errorf("%s: thought %+v", name, got)
		}
	}
	s := speech.New(func(llm.Event) {}, speech.Reading{})
	var half protocol.Text
	if err := half.UnmarshalJSON([]byte(`"a\ud83c b"`)); err != nil {
		t.Fatal(err)
	}
	s.Say(string(half))
	s.Say("\xF0\x9F")
	s.End()
	if got := s.Blocks(llm.Thinking{})[0].Text; got != "a\uFFFD b\uFFFD" {
		t.Errorf("lone halves: %q", got)
	}
}

func TestSpeechLearnsThatThinkingIsOpen(t *testing.T) {
	for text, want := range map[string]heard{
		"they ask about sums\n</think>\n\nIt is 4.": {"It is 4.", "they ask about sums", ""},
		"<think>a</think>b":                         {"b", "a", ""},
		"No thinking today.":                        {"No thinking today.", "", ""},
	} {
		shown, unsaid := "", false
		s := speech.New(func(ev llm.Event) { shown, unsaid = shown+ev.Text, unsaid || ev.Unsaid }, speech.Reading{Opened: true})
		for _, r := range text {
			s.Say(string(r))
		}
		s.End()
		if shown != want.said || unsaid {
			t.Errorf("%q: shown %q", text, shown)
		}
	}
}

// internal is what no text outside of code holds.
var internal = regexp.MustCompile(`(?m)^(?:<think>|<\|im_start\|>|<tool_call>\{)`)

// FuzzSpeech wants the same however a text is cut, valid UTF-8, and no marker at the
// start of a line outside of code.
func FuzzSpeech(f *testing.F) {
	for i, c := range speechCases {
		f.Add(c.text, i)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		text = strings.ToValidUTF8(text, "?")
		whole := hear(t, text, len(text)+1)
		if cut := hear(t, text, 1+size&7); cut != whole {
			t.Errorf("%q in pieces of %d:\n got %q\nwhole %q", text, 1+size&7, cut, whole)
		}
		if !utf8.ValidString(whole.said) {
			t.Errorf("%q became %q", text, whole.said)
		}
		if !strings.ContainsAny(text, "<[◁{`(✿†") && !strings.Contains(text, "Action Input:") && !strings.Contains(text, "Final Answer:") && !strings.Contains(text, "analysis") && !strings.Contains(text, "assistant") && whole != (heard{said: strings.TrimSpace(strings.TrimLeft(text, " \t\r\n\v\f\u0085\u00a0\u200b\u2060\ufeff"))}) {
			t.Errorf("%q became %q", text, whole)
		}
		if !strings.ContainsAny(text, "`~:[") && internal.MatchString(whole.said) && !strings.Contains(text, "   ") && !strings.Contains(text, "\t") {
			t.Logf("%q became %q", text, whole.said) // what is said about a marker may stand anywhere
		}
	})
}

func TestSpeechOfLongTextIsCheap(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("<", 1<<18), strings.Repeat("`", 1<<18), strings.Repeat("[A", 1<<17), strings.Repeat("{\"name\":", 1<<15),
		"<file_read><path>" + strings.Repeat("a", 1<<18), "Action: file_read\nAction Input: {" + strings.Repeat("a\n", 1<<17), strings.Repeat("Action: file_read\n", 1<<14),
		"<think>" + strings.Repeat("<a", 1<<17), "<tool_call>" + strings.Repeat("[{", 1<<17), strings.Repeat("<think>a</think>\n", 1<<14),
		"```json\n{\"name\":" + strings.Repeat("\n", 1<<17), strings.Repeat("a`", 1<<17), strings.Repeat("<|im_start|>", 1<<14),
	} {
		began := time.Now()
		s := speech.New(func(llm.Event) {}, speech.Reading{Tools: speechTools})
		for rest := text; rest != ""; {
			n := min(5, len(rest))
			s.Say(rest[:n])
			rest = rest[n:]
		}
		s.End()
		t.Logf("%.20q: %v", text, time.Since(began))
	}
}

func TestNamesOfCalls(t *testing.T) {
	for name, want := range map[string]string{
		"file_read<|channel|>commentary": "file_read", // vllm 35906
		"functions.file_read:0":          "file_read",
		"functions.file_read":            "file_read",
		" file_read\n":                   "file_read",
		"default_api:current_time":       "current_time",
		"file_read:3":                    "file_read",
		"launch:0":                       "launch:0",
		"<|constrain|>json":              "<|constrain|>json",
	} {
		if got := speech.DeclaredName(name, speechTools); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"multi_tool_use.parallel", "multi_tool_use_parallel", "functions.multi_tool_use.parallel"} {
		calls := speech.Calls(llm.ToolCall{Name: name, WireID: "w", Provider: "p"}, `{"tool_uses":[{"recipient_name":"functions.current_time","parameters":{}},{"recipient_name":"file_read","parameters":{"path":"a"}}]}`, speechTools)
		if len(calls) != 2 || calls[0].Name != "current_time" || calls[1].Arguments != `{"path":"a"}` || calls[0].WireID != "" {
			t.Errorf("%s is %+v", name, calls)
		}
	}
	if calls := speech.Calls(llm.ToolCall{Name: "multi_tool_use.parallel"}, `{"tool_uses":`, speechTools); len(calls) != 1 || calls[0].Fault == "" {
		t.Errorf("half a call of several is %+v", calls)
	}
}
