package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/go-faster/yaml"
)

// Extends is an extends.json: what a vendor accepts or adds beyond the
// definitions of another folder.
type Extends struct {
	Of      string // the other folder
	Entries []Extension
}

// Extension is one entry: how one definition is extended.
type Extension struct {
	Pos        Pos
	Definition string
	Why        string // where the extension comes from
	// Members are added; Optional are no longer required; Lenient count as
	// absent when their value does not fit.
	Members           []Prop
	Optional, Lenient []string
	// FromMap lists arrays of name and value that may also come as an object.
	FromMap []string
	// TagAliases are other spellings of a union's tags, TagIgnoreCase takes any
	// case of them.
	TagAliases    map[string]string
	TagIgnoreCase bool
	// AlsoRequest: the notification is answered {} when it comes as a request.
	AlsoRequest bool
}

// readExtends reads the extends.json of a folder; nil when there is none.
func readExtends(fsys fs.FS, dir string) (*Extends, error) {
	f, err := readFile(fsys, path.Join(dir, "extends.json"))
	if f == nil || err != nil {
		return nil, err
	}
	file := f.Name
	doc, err := parseJSON(file, f.Data)
	if err != nil {
		return nil, err
	}
	r := reader{file: file}
	ext := &Extends{}
	for k, v := range pairs(doc) {
		switch k.Value {
		case "$schema", "description":
		case "of":
			ext.Of = path.Join(dir, v.Value)
		case "extends":
			for _, n := range v.Content {
				e, err := r.extensionEntry(n)
				if err != nil {
					return nil, err
				}
				ext.Entries = append(ext.Entries, e)
			}
		default:
			return nil, &Error{Pos: r.pos(k), Msg: fmt.Sprintf("unknown member %q of extends.json", k.Value), Mend: "known are of and extends"}
		}
	}
	if ext.Of == "" {
		return nil, &Error{Pos: Pos{file, 1, 1}, Msg: "extends.json does not say what it extends", Mend: `add "of": "../../acp/v1"`}
	}
	return ext, nil
}

func (r reader) extensionEntry(n *yaml.Node) (Extension, error) {
	e := Extension{Pos: r.pos(n)}
	for k, v := range pairs(n) {
		var err error
		switch k.Value {
		case "definition":
			e.Definition = v.Value
		case "why":
			e.Why = v.Value
		case "members":
			for pk, pv := range pairs(v) {
				sub, err := r.schema(pv)
				if err != nil {
					return e, err
				}
				sub.Pos = r.pos(pk)
				e.Members = append(e.Members, Prop{pk.Value, sub})
			}
		case "optional":
			err = v.Decode(&e.Optional)
		case "lenient":
			err = v.Decode(&e.Lenient)
		case "fromMap":
			err = v.Decode(&e.FromMap)
		case "tagAliases":
			err = v.Decode(&e.TagAliases)
		case "tagIgnoreCase":
			err = v.Decode(&e.TagIgnoreCase)
		case "alsoRequest":
			err = v.Decode(&e.AlsoRequest)
		default:
			err = errors.New("unknown member " + k.Value + " of an extension")
		}
		if err != nil {
			return e, &Error{Pos: r.pos(k), Msg: err.Error()}
		}
	}
	if e.Definition == "" || e.Why == "" {
		return e, &Error{Pos: e.Pos, Msg: "an extension needs a definition and a why"}
	}
	return e, nil
}
