package acpkit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/openai"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// The rules of DESIGN section 5, one test each. Those that hold for every type
// are tried on every type; the tables say by example what a rule means.

// everywhere calls f for each member of each object of each instance, with the
// mutation that stands for the object.
func everywhere(f func(def *mType, object *mutation, m member)) {
	for _, pkg := range models() {
		for _, def := range pkg.defined() {
			for _, in := range instances(def) {
				mutations(in.root, func(m *mutation) {
					if m.add == "" { // each object is visited once, by its extra member
						return
					}
					for _, child := range m.node().members {
						f(def, m, child)
					}
				})
			}
		}
	}
}

// TestDuplicateKeys: a member that stands twice is refused where it stands, at
// the top, nested, in a map and for a tag. Inside a lenient member or list it is
// a bad value like any other.
func TestDuplicateKeys(t *testing.T) {
	refused, forgiven := 0, 0
	everywhere(func(def *mType, object *mutation, m member) {
		twice := &mutation{root: object.root, path: object.path, add: strconv.Quote(m.name) + ":" + m.String()}
		b := boxOf(goTypeOf(def))
		err := b.UnmarshalJSON(twice.text())
		if f := twice.forgiven(); f != nil {
			if err != nil || f.as != nil && takenFor(def, b, twice.root.render(nil, *f.as)) != nil {
				t.Errorf("%s: %s: got %s, %v", def.Name, twice, b, err)
			}
			forgiven++
			return
		}
		want := (&mutation{path: append(object.path[:len(object.path):len(object.path)], step{name: m.name})}).pointer()
		if got, ok := pointerOf(err); !ok || got != want || !strings.Contains(err.Error(), "stands twice") {
			t.Errorf("%s: %s: got %v", def.Name, twice, err)
		}
		refused++
	})
	t.Logf("%d refused, %d forgiven", refused, forgiven)

	for _, c := range []struct {
		into        codec
		in, pointer string
	}{
		{new(acp.NewSessionRequest), `{"cwd":"/a","cwd":"/a","mcpServers":[]}`, "/cwd"},
		{new(acp.NewSessionRequest), `{"cwd":"/a","mcpServers":[],"c\u0077d":"/b"}`, "/cwd"},
		{new(acp.PromptRequest), `{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"text","text":"b","text":"b"}]}`, "/prompt/1/text"},
		{new(acp.PromptRequest), `{"sessionId":"s","prompt":[{"type":"text","type":"text","text":"a"}]}`, "/prompt/0/type"},
		{new(acp.PromptRequest), `{"sessionId":"s","prompt":[{"type":"text","text":"a","_meta":{},"_meta":null}]}`, "/prompt/0/_meta"},
		{new(acp.SessionConfigOption), `{"id":"i","name":"n","type":"boolean","currentValue":true,"type":"select"}`, "/type"},
		{new(acp.CreateElicitationRequest), `{"message":"m","mode":"url","url":"u","elicitationId":"e","sessionId":"s","sessionId":"t"}`, "/sessionId"},
		{new(authMethod), `{"type":"terminal","id":"i","name":"n","env":{"A":"1","A":"2"}}`, "/env/A"},
		{new(acp.ElicitationSchema), `{"properties":{"a":{"type":"boolean"},"a":{"type":"boolean"}}}`, "/properties/a"},
	} {
		if got, _ := pointerOf(c.into.UnmarshalJSON([]byte(c.in))); got != c.pointer {
			t.Errorf("%s: blamed on %q, want %q", c.in, got, c.pointer)
		}
	}
	// What is kept raw is not looked into: it belongs to somebody else.
	var m acp.PromptResponse
	if err := m.UnmarshalJSON([]byte(`{"stopReason":"end_turn","_meta":{"a":1,"a":2},"x":1,"x":2}`)); err != nil || string(m.Meta) != `{"a":1,"a":2}` {
		t.Error(string(m.Meta), err)
	}
}

// TestKeyCase: a key in other letters is another key. A reader does with it what
// it does without the member.
func TestKeyCase(t *testing.T) {
	tried := 0
	everywhere(func(def *mType, object *mutation, m member) {
		key := strings.ToUpper(m.name)
		if m.field == nil && !m.tag || key == m.name {
			return // the keys of a map are data
		}
		without, renamed := boxOf(goTypeOf(def)), boxOf(goTypeOf(def))
		drop := edits{put: map[*node]string{m.node: ""}}
		err1 := without.UnmarshalJSON(object.root.render(nil, drop))
		drop.extra = map[*node]string{object.node(): strconv.Quote(key) + ":" + m.String()}
		text := object.root.render(nil, drop)
		err2 := renamed.UnmarshalJSON(text)
		if fmt.Sprint(err1) != fmt.Sprint(err2) || err1 == nil && !reflect.DeepEqual(without.v, renamed.v) {
			t.Errorf("%s: %s: got %s, %v; without the member %s, %v", def.Name, text, renamed, err2, without, err1)
		}
		tried++
	})
	t.Log(tried, "members")
}

// TestReuse: decoding replaces what stood in the value, keeps nothing of the
// text, and appending leaves alone what is there already.
func TestReuse(t *testing.T) {
	for _, pkg := range models() {
		for _, def := range pkg.defined() {
			used := boxOf(goTypeOf(def))
			for _, in := range instances(def) {
				text := []byte(in.root.String())
				fresh := boxOf(goTypeOf(def))
				if err := fresh.UnmarshalJSON(slices.Clone(text)); err != nil {
					t.Fatal(err)
				}
				if err := used.UnmarshalJSON(text); err != nil {
					t.Fatal(err)
				}
				for i := range text {
					text[i] = '#'
				}
				if !reflect.DeepEqual(used.v, fresh.v) {
					t.Errorf("%s: used again it is %s, want %s", def.Name, used, fresh)
				}
				if got := fresh.AppendJSON([]byte("before ")); string(got) != "before "+string(fresh.AppendJSON(nil)) {
					t.Errorf("%s: appended to a text: %s", def.Name, got)
				}
			}
		}
	}
}

// TestThreeStates: where null clears, absent, null and a value are told apart
// and written as they came.
func TestThreeStates(t *testing.T) {
	var members []string
	for pkg, m := range models() {
		for _, def := range m.defined() {
			for _, in := range instances(def) {
				for _, f := range in.root.members {
					if f.field == nil || !f.field.NullClears || !strings.HasPrefix(in.name, "full") {
						continue
					}
					name := pkg + "." + def.Name + "." + f.name
					if !slices.Contains(members, name) {
						members = append(members, name)
					}
					states(t, def, in.root, f)
				}
			}
		}
	}
	slices.Sort(members)
	for _, want := range []string{"acp.SessionInfoUpdate.title", "acp.SessionInfoUpdate.updatedAt"} {
		if !slices.Contains(members, want) {
			t.Errorf("%s has not three states, only %v have", want, members)
		}
	}
	t.Log(members)

	var u acp.SessionInfoUpdate
	u.Title, u.UpdatedAt = acp.Null[string](), acp.Value("2026-01-01T00:00:00Z")
	if got := string(u.AppendJSON(nil)); got != `{"title":null,"updatedAt":"2026-01-01T00:00:00Z"}` {
		t.Error(got)
	}
	if got := string((&acp.SessionInfoUpdate{}).AppendJSON(nil)); got != `{}` {
		t.Error(got)
	}
}

func states(t *testing.T, def *mType, root *node, f member) {
	for state, put := range map[string]string{"absent": "", "null": "null", "value": f.String()} {
		text := root.render(nil, edits{put: map[*node]string{f.node: put}})
		b := boxOf(goTypeOf(def))
		if err := b.UnmarshalJSON(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		v := reflect.ValueOf(b.v).Elem()
		for i := range v.NumField() {
			if wire, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); wire == f.name {
				v = v.Field(i)
				break
			}
		}
		got := "absent"
		if v.FieldByName("Set").Bool() {
			got = "null"
			if !v.FieldByName("Value").IsNil() {
				got = "value"
			}
		}
		if got != state {
			t.Errorf("%s: %s of %s is %s", text, f.name, def.Name, got)
		}
		if out := b.AppendJSON(nil); !bytes.Equal(out, text) {
			t.Errorf("%s is written as %s", text, out)
		}
	}
}

// TestLeniency: by example, what each keyword makes of a bad value.
// TestDifferential tries them on every member that has them.
func TestLeniency(t *testing.T) {
	for _, c := range []struct {
		rule    string
		into    codec
		in, out string // out "" means refused
	}{
		{"default-on-error: absent", new(acp.Implementation), `{"name":"n","version":"1","title":5}`, `{"name":"n","version":"1"}`},
		{"default-on-error: the schema's default", new(acp.ElicitationSchema), `{"type":"list"}`, `{"type":"object","properties":{}}`},
		{"default-on-error: the innermost member around the fault", new(acp.ToolCall), `{"toolCallId":"c","title":"t","locations":[{"path":"p","line":-1},{"path":5}],"kind":"dream"}`, `{"toolCallId":"c","title":"t","locations":[{"path":"p"}]}`},
		{"default-on-error: the list of a required member", new(acp.Plan), `{"entries":{"0":1}}`, `{"entries":[]}`},
		{"default-on-error does not excuse absence", new(acp.Plan), `{}`, ``},
		{"default-on-error does not excuse what is not JSON", new(acp.Plan), `{"entries":[1,]}`, ``},
		{"default-on-error keeps null where null clears", new(acp.SessionInfoUpdate), `{"title":null,"updatedAt":7}`, `{"title":null}`},
		{"skip-invalid-items", new(acp.AvailableCommandsUpdate), `{"availableCommands":[{"name":"a"},null,{"name":"b","description":"d"},[[]]]}`, `{"availableCommands":[{"name":"b","description":"d"}]}`},
		{"skip-invalid-items: nested lists", new(acp.SessionConfigSelectGroup), `{"group":"g","name":"n","options":[{"value":1},{"value":"v","name":"n"}]}`, `{"group":"g","name":"n","options":[{"value":"v","name":"n"}]}`},
		{"a strict list keeps no part", new(acp.PromptRequest), `{"sessionId":"s","prompt":[{"type":"text","text":"t"},{"type":"text"}]}`, ``},
		{"default-on-null", new(acp.MCPServerStdio), `{"name":"n","command":"c","args":null,"env":null}`, `{"name":"n","command":"c","args":[],"env":[]}`},
		{"default-on-null does not excuse another type", new(acp.MCPServerStdio), `{"name":"n","command":"c","args":"a","env":[]}`, ``},
		{"default-on-null does not excuse absence", new(acp.MCPServerStdio), `{"name":"n","command":"c","args":[]}`, ``},
		{"extends: optional", new(reasonix.MCPServerStdio), `{"name":"n","command":"c"}`, `{"name":"n","command":"c"}`},
		{"extends: a list as an object, in its order", new(reasonix.MCPServerStdio), `{"name":"n","command":"c","env":{"B":"1","A":"2"}}`, `{"name":"n","command":"c","env":[{"name":"B","value":"1"},{"name":"A","value":"2"}]}`},
		{"extends: that object holds texts", new(reasonix.MCPServerStdio), `{"name":"n","command":"c","env":{"B":1}}`, ``},
		{"null is absent", new(acp.ListSessionsRequest), `{"cwd":null}`, `{}`},
		{"strict and nullable", new(acp.ListSessionsRequest), `{"cwd":1}`, ``},
		{"lenient endpoints", new(openai.Chunk), `{"id":7,"choices":[{"index":"0","delta":{"content":"x","tool_calls":null}}],"usage":"none"}`, `{"choices":[{"delta":{"content":"x"}}]}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			err := c.into.UnmarshalJSON([]byte(c.in))
			switch {
			case c.out == "" && err == nil:
				t.Errorf("%s is taken for %s", c.in, c.into.AppendJSON(nil))
			case c.out == "":
			case err != nil:
				t.Error(err)
			case string(c.into.AppendJSON(nil)) != c.out:
				t.Errorf("got %s, want %s", c.into.AppendJSON(nil), c.out)
			}
		})
	}
}

// TestRanges: each width takes its limits and nothing beyond, in every spelling
// of a whole number. TestDifferential tries every integer member.
func TestRanges(t *testing.T) {
	used := map[int]bool{}
	for _, pkg := range models() {
		for _, def := range pkg.Types {
			for _, f := range def.Fields {
				if f.Type.Kind == toBase {
					used[f.Type.Base] = true
				} else if f.Type.Kind == toType && f.Type.Type.real().Kind == kScalar {
					used[f.Type.Type.real().Scalar] = true
				}
			}
		}
	}
	delete(used, bString)
	delete(used, bBool)
	const huge = "1" + "00000000000000000000"
	for _, c := range []struct {
		base    int
		into    codec
		in      string // with % for the number
		take    string
		refuse  string
		written map[string]string
	}{
		{bInt32, new(acp.Error), `{"code":%,"message":""}`, "0 -0 -1 2147483647 -2147483648 1.0 1e2 100e-2 2147483647.0", "2147483648 -2147483649 1.5 1e10 1e400 " + huge + ` "1" null true`,
			map[string]string{"1.0": "1", "1e2": "100", "100e-2": "1", "-0": "0", "2147483647.0": "2147483647"}},
		{bInt64, new(acp.IntegerPropertySchema), `{"minimum":%}`, "0 -1 9223372036854775807 -9223372036854775808 9007199254740993 1e15", "9223372036854775808 -9223372036854775809 0.5 1e19 -1e19 1e400 " + huge + ` "1" []`,
			map[string]string{"1e15": "1000000000000000"}},
		{bUint16, new(acp.InitializeResponse), `{"protocolVersion":%,"agentCapabilities":{},"authMethods":[]}`, "0 -0 1 65535 1.0 6.5535e4", `65536 -1 -1.0 0.1 1e5 "1" null {}`, map[string]string{"1.0": "1", "-0": "0", "6.5535e4": "65535"}},
		{bUint32, new(acp.StringPropertySchema), `{"minLength":%}`, "0 4294967295 1E1", `4294967296 -1 1.5 1e10 "1"`, map[string]string{"1E1": "10"}},
		{bUint64, new(reasonix.PromptUsage), `{"inputTokens":%,"outputTokens":0,"totalTokens":0}`, "0 18446744073709551615 9007199254740993 1e3", `18446744073709551616 -1 0.5 1e20 "1" null`, map[string]string{"1e3": "1000"}},
		{bFloat64, new(acp.Cost), `{"amount":%,"currency":""}`, "0 -0 0.1 1.7976931348623157e308 5e-324 1e2 -1.5E-7 123456789", `1e309 -1e400 "1" null NaN Infinity`,
			map[string]string{"1e2": "100", "1.7976931348623157e308": "1.7976931348623157e+308", "-1.5E-7": "-1.5e-7"}},
	} {
		delete(used, c.base)
		for _, n := range strings.Fields(c.take) {
			in := strings.Replace(c.in, "%", n, 1)
			want := n
			if w, ok := c.written[n]; ok {
				want = w
			}
			if err := c.into.UnmarshalJSON([]byte(in)); err != nil {
				t.Errorf("%s: %v", in, err)
			} else if out := string(c.into.AppendJSON(nil)); !strings.Contains(out, ":"+want+",") && !strings.Contains(out, ":"+want+"}") {
				t.Errorf("%s is written as %s, want %s", in, out, want)
			}
		}
		for _, n := range strings.Fields(c.refuse) {
			in := strings.Replace(c.in, "%", n, 1)
			if err := c.into.UnmarshalJSON([]byte(in)); err == nil {
				t.Errorf("%s is taken for %s", in, c.into.AppendJSON(nil))
			}
		}
	}
	if len(used) > 0 {
		t.Errorf("widths without a row: %v", used)
	}
}

// TestNesting: a deep value is refused, never a crash, wherever it stands; a
// moderately deep one is passed on.
func TestNesting(t *testing.T) {
	for _, c := range []struct {
		place string
		into  codec
		in    string // with % for the value
		keep  bool   // taken when it is not too deep
	}{
		{"raw member", new(acp.Error), `{"code":1,"message":"","data":%}`, true},
		{"unknown member", new(acp.Error), `{"code":1,"message":"","x":%}`, true},
		{"unknown variant", new(acp.SessionNotification), `{"sessionId":"s","update":{"sessionUpdate":"x","y":%}}`, true},
		{"before the tag", new(acp.SessionNotification), `{"sessionId":"s","update":{"y":%,"sessionUpdate":"session_info_update"}}`, true},
		{"lenient member", new(acp.Plan), `{"entries":%}`, true},
		{"item of a lenient list", new(acp.Plan), `{"entries":[%]}`, true},
		{"text", new(acp.AuthenticateRequest), `{"methodId":%}`, false},
		{"strict list", new(acp.PromptRequest), `{"sessionId":"s","prompt":%}`, false},
		{"tag", new(acp.PromptRequest), `{"sessionId":"s","prompt":[{"type":%}]}`, false},
		{"map", new(authMethod), `{"type":"terminal","id":"i","name":"n","env":%}`, false},
		{"union told by JSON type", new(acp.ElicitationAcceptAction), `{"content":{"a":%}}`, false},
		{"another package's type", new(reasonix.InitializeRequest), `{"clientInfo":%}`, true},
		{"the whole", new(acp.NewSessionRequest), `%`, false},
	} {
		for _, open := range []string{"[", `{"a":`} {
			shut := strings.Map(func(r rune) rune { return map[rune]rune{'[': ']', '{': '}'}[r] }, open[:1])
			deep := func(n int) []byte {
				return []byte(strings.Replace(c.in, "%", strings.Repeat(open, n)+"0"+strings.Repeat(shut, n), 1))
			}
			if err := c.into.UnmarshalJSON(deep(20000)); err == nil {
				t.Errorf("%s: 20,000 deep %s is taken", c.place, open)
			}
			if err := c.into.UnmarshalJSON([]byte(strings.Replace(c.in, "%", strings.Repeat(open, 20000), 1))); err == nil {
				t.Errorf("%s: 20,000 %s never closed are taken", c.place, open)
			}
			err := c.into.UnmarshalJSON(deep(500))
			if (err == nil) != c.keep {
				t.Errorf("%s: 500 deep %s: %v", c.place, open, err)
			}
			if err == nil && !json.Valid(c.into.AppendJSON(nil)) {
				t.Errorf("%s: 500 deep %s is written as no JSON", c.place, open)
			}
		}
	}
}

// TestText: what becomes of texts that are not clean. Bytes that are no UTF-8
// and lone surrogates become U+FFFD, as encoding/json does it.
func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"any character", "\"a\u0000\"", ""},
		{"escapes", `"\u0000\b\f\n\r\t\"\\\/\u007f"`, "\x00\b\f\n\r\t\"\\/\x7f"},
		{"pair", `"\ud83d\ude00"`, "😀"},
		{"high alone", `"a\ud83dz"`, "a\uFFFDz"},
		{"low alone", `"a\ude00"`, "a\uFFFD"},
		{"line separators", "\"\u2028\u2029\"", "\u2028\u2029"},
		{"bad byte", "\"a\xffb\"", "a\uFFFDb"},
		{"cut sequence", "\"a\xe2\x82\"", "a\uFFFD"},
		{"encoded surrogate", "\"\xed\xa0\x80\"", "\uFFFD"},
		{"raw line feed", "\"a\nb\"", ""},
		{"bad escape", `"\x41"`, ""},
		{"half an escape", `"\u00"`, ""},
		{"not closed", `"a`, ""},
	} {
		var v acp.AuthenticateRequest
		err := v.UnmarshalJSON([]byte(`{"methodId":` + c.in + `}`))
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: %q is taken for %q", c.name, c.in, v.MethodID)
			}
			continue
		}
		out := v.AppendJSON(nil)
		var back struct{ MethodID string }
		if err != nil || json.Unmarshal(out, &back) != nil || back.MethodID != c.want {
			t.Errorf("%s: %q is written as %s, %v", c.name, c.in, out, err)
		}
	}
	// In a raw value an escape stays as it was written.
	var e acp.Error
	in := `{"code":1,"message":"","data":{"\ud800":"\ude00"}}`
	if err := e.UnmarshalJSON([]byte(in)); err != nil || string(e.AppendJSON(nil)) != in {
		t.Error(string(e.AppendJSON(nil)), err)
	}
	// Members are found by their name, however it is escaped.
	if err := e.UnmarshalJSON([]byte(`{"\u0063ode":5,"mess\u0061ge":"m"}`)); err != nil || e.Code != 5 || e.Message != "m" {
		t.Error(e, err)
	}
}

// TestOneValue: a text is one value, with white space around it at most.
func TestOneValue(t *testing.T) {
	const in = `{"code":1,"message":"m"}`
	for _, ok := range []string{in, " \t\r\n" + in + "\n ", strings.ReplaceAll(in, ":", " : ")} {
		if err := new(acp.Error).UnmarshalJSON([]byte(ok)); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	bad := []string{"", " ", "\ufeff" + in, "#" + in, in + "{}", in + " []", in + "\n" + in, in + "0", in + `""`, in + "null", in + "true"}
	for i := range len(in) {
		bad = append(bad, in[:i])
	}
	for _, b := range bad {
		if err := new(acp.Error).UnmarshalJSON([]byte(b)); err == nil {
			t.Errorf("%q is taken", b)
		}
		if _, err := acp.DecodeContentBlock([]byte(strings.Replace(b, in, `{"type":"text","text":"t"}`, 1))); err == nil {
			t.Errorf("%q is taken by a union", b)
		}
	}
}

// TestRawJSON: a message that is not always an object is kept as it came.
func TestRawJSON(t *testing.T) {
	for _, in := range []string{`null`, `0`, `"a"`, `[1, {"b":2.50}]`} {
		a, r := new(acp.RawJSON), new(reasonix.RawJSON)
		for _, v := range []codec{a, r} {
			if err := v.UnmarshalJSON([]byte(" " + in + " ")); err != nil || string(v.AppendJSON(nil)) != in {
				t.Errorf("%s: %s, %v", in, v.AppendJSON(nil), err)
			}
		}
	}
	if err := new(acp.RawJSON).UnmarshalJSON([]byte(`{"a"}`)); err == nil {
		t.Error("no JSON is taken")
	}
}
