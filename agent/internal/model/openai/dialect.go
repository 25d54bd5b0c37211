package openai

import (
	"net/url"
	"strings"
)

// Dialect is what one family of endpoints does in its own way. The zero value is plain OpenAI-compatible.
type Dialect struct {
	Name string // for configuration and logs

	Effort Effort
	Levels []Level // how words of effort are spelled here; others are sent as they are
	// AlwaysThinks: reasoning cannot be switched off, so the wish is not sent.
	AlwaysThinks bool

	Replay    Replay
	ThinkTags bool // reasoning may stand in the text, between <think> and </think> at its beginning

	Limit     LimitName
	MaxOutput uint32 // the largest limit that is taken; 0: not known

	NoStreamOptions bool // the member is refused; usage comes by itself
	ToolStream      bool // arguments come in pieces only on demand
	ToolName        bool // a tool message has to name its tool
	CallExtra       bool // what came with a call goes back with it
	CallID          CallID
	KeyHeader       string // of the key; "": Authorization: Bearer
	PublicModels    bool   // the list of models is given out without a key, so it proves none
}

// Level is a word of effort and what it is called here.
type Level struct{ Word, Here string }

// Effort says with which members reasoning is controlled.
type Effort int

// The ways to control reasoning.
const (
	EffortWord     Effort = iota // reasoning_effort, "none" for off
	EffortThinking               // thinking.type, and reasoning_effort when on
	EffortSwitch                 // thinking.type alone: on or off
	EffortAdaptive               // thinking.type adaptive or disabled
	EffortEnable                 // enable_thinking, and reasoning_effort when on
	EffortOptions                // reasoning.effort
)

// Replay says how the reasoning of earlier answers goes back.
type Replay int

// The ways to give reasoning back.
const (
	ReplayNone    Replay = iota // not at all; some refuse it
	ReplayContent               // reasoning_content, present on every assistant message while thinking is on
	ReplayParts                 // a thinking part of a content list
)

// LimitName is the member that bounds the answer.
type LimitName int

// The names of the bound.
const (
	MaxTokens           LimitName = iota // max_tokens
	MaxCompletionTokens                  // max_completion_tokens
)

// CallID is the form that ids of calls must have.
type CallID int

// The forms of call ids.
const (
	AnyID   CallID = iota
	NineIDs        // nine letters or digits
)

// rule says where a dialect is spoken: at hosts that are or end in one of the names, or, with a model, for models whose id
// begins with one of the prefixes (behind the last slash, in any case). Both given: both must hold.
type rule struct {
	hosts, models []string
	dialect       Dialect
}

// The efforts of DeepSeek's generations: Flash has low, high and max, Pro high and max.
var (
	flashLevels = []Level{{"minimal", "low"}, {"medium", "high"}, {"xhigh", "high"}, {"ultra", "max"}}
	proLevels   = []Level{{"minimal", "high"}, {"low", "high"}, {"medium", "high"}, {"xhigh", "max"}, {"ultra", "max"}}
	// Those of models with low, high and max.
	threeLevels = []Level{{"minimal", "low"}, {"medium", "high"}, {"xhigh", "max"}, {"ultra", "max"}}
)

var (
	deepseekHosts   = []string{"deepseek.com"}
	openrouterHosts = []string{"openrouter.ai"}
	glmHosts        = []string{"bigmodel.cn", "z.ai"}
	kimiHosts       = []string{"moonshot.ai", "moonshot.cn"}
	qwenHosts       = []string{"dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"}

	deepseek    = Dialect{Name: "deepseek", Effort: EffortThinking, Levels: flashLevels, Replay: ReplayContent, MaxOutput: 393216}
	deepseekPro = Dialect{Name: "deepseek-pro", Effort: EffortThinking, Levels: proLevels, Replay: ReplayContent, MaxOutput: 393216}
	openRouter  = Dialect{Name: "openrouter", Effort: EffortOptions, ThinkTags: true, PublicModels: true}
	glm         = Dialect{Name: "glm", Effort: EffortThinking, Levels: threeLevels, Replay: ReplayContent, NoStreamOptions: true, ToolStream: true}
	glm53       = Dialect{Name: "glm-5.3", Effort: EffortThinking, Levels: threeLevels, AlwaysThinks: true, Replay: ReplayContent, NoStreamOptions: true, ToolStream: true, MaxOutput: 131072}
	kimi        = Dialect{Name: "kimi", Effort: EffortSwitch, Replay: ReplayContent}
	kimiK3      = Dialect{Name: "kimi-k3", Effort: EffortWord, Levels: threeLevels, AlwaysThinks: true, Replay: ReplayContent, Limit: MaxCompletionTokens}
	qwen        = Dialect{Name: "qwen", Effort: EffortEnable, ThinkTags: true}
	groq        = Dialect{Name: "groq", ThinkTags: true}
	mistral     = Dialect{Name: "mistral", Replay: ReplayParts, CallID: NineIDs}
	official    = Dialect{Name: "openai", Limit: MaxCompletionTokens}
	gemini      = Dialect{Name: "gemini", CallExtra: true}
	ollama      = Dialect{Name: "ollama", ThinkTags: true}
	together    = Dialect{Name: "together", ThinkTags: true}
	minimax     = Dialect{Name: "minimax", Effort: EffortAdaptive, ThinkTags: true}
	mimo        = Dialect{Name: "mimo", ThinkTags: true, ToolName: true, KeyHeader: "api-key"}
	plain       = Dialect{Name: "plain", ThinkTags: true}
)

// rules is the table, the first match counts. Hosts come first: what an endpoint takes is its own affair, whatever model is
// behind it. The names of models count at hosts that nobody knows, such as gateways in front of one vendor.
var rules = []rule{
	{deepseekHosts, []string{"deepseek-v4-pro"}, deepseekPro},
	{deepseekHosts, nil, deepseek},
	{openrouterHosts, nil, openRouter},
	{glmHosts, []string{"glm-5.3"}, glm53},
	{glmHosts, nil, glm},
	{kimiHosts, []string{"kimi-k3"}, kimiK3},
	{kimiHosts, nil, kimi},
	{qwenHosts, nil, qwen},
	{[]string{"api.mistral.ai"}, nil, mistral},
	{[]string{"api.groq.com"}, nil, groq},
	{[]string{"api.openai.com"}, nil, official},
	{[]string{"generativelanguage.googleapis.com"}, nil, gemini},
	{[]string{"ollama.com", "localhost:11434", "127.0.0.1:11434"}, nil, ollama},
	{[]string{"api.together.ai", "api.together.xyz"}, nil, together},
	{[]string{"minimax.io", "minimaxi.com"}, nil, minimax},
	{[]string{"xiaomimimo.com"}, nil, mimo},
	{nil, []string{"deepseek-v4-pro"}, deepseekPro},
	{nil, []string{"deepseek-flash", "deepseek-v4"}, deepseek},
	{nil, []string{"glm-5.3"}, glm53},
	{nil, []string{"glm-"}, glm},
	{nil, []string{"kimi-k3"}, kimiK3},
	{nil, []string{"kimi-"}, kimi},
}

// DialectFor finds the dialect of a model at an endpoint: by the host, else by the model, else the plain one.
func DialectFor(baseURL, modelID string) Dialect {
	host, hostname := "", ""
	if u, err := url.Parse(baseURL); err == nil {
		host, hostname = strings.ToLower(u.Host), strings.ToLower(u.Hostname())
	}
	id := strings.ToLower(modelID[strings.LastIndexByte(modelID, '/')+1:])
	for _, r := range rules {
		if (r.hosts == nil || atHost(host, hostname, r.hosts)) && (r.models == nil || begins(id, r.models)) {
			return r.dialect
		}
	}
	return plain
}

// DialectNamed finds a dialect by its name.
func DialectNamed(name string) (Dialect, bool) {
	for _, r := range rules {
		if r.dialect.Name == name {
			return r.dialect, true
		}
	}
	return plain, name == plain.Name
}

func atHost(host, hostname string, names []string) bool {
	for _, name := range names {
		if host == name || hostname == name || strings.HasSuffix(hostname, "."+name) {
			return true
		}
	}
	return false
}

func begins(id string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// level spells a word of effort.
func (d *Dialect) level(word string) string {
	for _, l := range d.Levels {
		if l.Word == word {
			return l.Here
		}
	}
	return word
}
