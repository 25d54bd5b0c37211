package command

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// maxPrompt bounds what a command becomes, in bytes: a text may name its
// arguments as often as it likes.
const maxPrompt = 16 << 20

var errTooLong = errors.New("the prompt would be longer than 16 MiB; give shorter arguments")

// Expand gives the prompt that a custom command or skill becomes. It fails when
// its file has gone or cannot be used any more, and when the prompt would be too
// long.
func (s *Set) Expand(c Call) (string, error) {
	p, ok := s.prompts[lowerName(c.Name)]
	if !ok {
		return "", fmt.Errorf("/%s is neither a custom command nor a skill", c.Name)
	}
	if len(c.Args) > maxPrompt {
		return "", fmt.Errorf("/%s cannot be used: %w", p.entry.Name, errTooLong)
	}
	body, err := p.file.text()
	if err == nil {
		if p.skill != "" {
			body, err = withSkill(body, p.skill, c.Args)
		} else {
			body, err = fill(body, c.Args)
		}
	}
	if err != nil {
		return "", fmt.Errorf("/%s cannot be used: %w", p.entry.Name, err)
	}
	return body, nil
}

// withSkill adds what a skill needs to find its files. Nothing in the text is
// replaced: it is full of shell, where $1 means something else.
func withSkill(body, dir, args string) (string, error) {
	body += "\n\nThe files of this skill are in " + dir
	if args != "" {
		body += "\n\n" + args
	}
	if len(body) > maxPrompt {
		return "", errTooLong
	}
	return body, nil
}

// piece is a part of a command's text: literal, or what stands for arguments.
type piece struct {
	text string
	arg  int // 1 to 9; 0 = literal; allArguments
}

const allArguments = -1

// pieces takes a text apart at $ARGUMENTS, $1 to $9 and $$. A longer word, such
// as $ARGUMENTS_FILE, is literal.
func pieces(body string) []piece {
	var list []piece
	for {
		i := strings.IndexByte(body, '$')
		if i < 0 {
			return append(list, piece{text: body})
		}
		list = append(list, piece{text: body[:i]})
		body = body[i+1:]
		all, isAll := strings.CutPrefix(body, "ARGUMENTS")
		switch {
		case isAll && (all == "" || !isWord(all[0])):
			list, body = append(list, piece{arg: allArguments}), all
		case body != "" && '1' <= body[0] && body[0] <= '9':
			list, body = append(list, piece{arg: int(body[0] - '0')}), body[1:]
		case body != "" && body[0] == '$':
			list, body = append(list, piece{text: "$"}), body[1:]
		default:
			list = append(list, piece{text: "$"})
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func namesArguments(body string) bool {
	for _, p := range pieces(body) {
		if p.arg != 0 {
			return true
		}
	}
	return false
}

// fill puts the arguments where the body names them, else behind it. What they
// contain is not looked at again.
func fill(body, args string) (string, error) {
	words := split(args)
	named := false
	var b strings.Builder
	for _, p := range pieces(body) {
		text := p.text
		switch {
		case p.arg == allArguments:
			text = args
		case p.arg > len(words):
			text = ""
		case p.arg > 0:
			text = words[p.arg-1]
		}
		named = named || p.arg != 0
		if b.Len()+len(text) > maxPrompt {
			return "", errTooLong
		}
		b.WriteString(text)
	}
	if !named && args != "" {
		if b.Len()+len(args)+2 > maxPrompt {
			return "", errTooLong
		}
		b.WriteString("\n\n" + args)
	}
	if strings.TrimSpace(b.String()) == "" {
		return "", errors.New("its text is empty without arguments")
	}
	return b.String(), nil
}

// split takes arguments apart like a shell: at white space, but not within
// quotes; a backslash takes the meaning of a quote, a space or a backslash away.
// It never fails: a quote without its end, and the apostrophe of don't, stand for
// themselves, and a backslash before any other character stays.
func split(args string) []string {
	var words []string
	var word []rune
	open := false // a word has begun, perhaps an empty one
	text := []rune(args)
	for i := 0; i < len(text); i++ {
		r := text[i]
		if isSpace(r) {
			if open {
				words, word, open = append(words, string(word)), nil, false
			}
			continue
		}
		open = true
		switch {
		case r == '\\' && i+1 < len(text) && (isQuote(text[i+1]) || text[i+1] == '\\' || isSpace(text[i+1])):
			i++
			word = append(word, text[i])
		case r == '"' || r == '\'' && (i == 0 || !unicode.IsLetter(text[i-1])):
			if inner, end := quoted(text, i); end > 0 {
				word, i = append(word, inner...), end
				continue
			}
			word = append(word, r)
		default:
			word = append(word, r)
		}
	}
	if open {
		words = append(words, string(word))
	}
	return words
}

// quoted reads what follows the quote at text[start], and where it ends; 0 when
// it does not.
func quoted(text []rune, start int) (inner []rune, end int) {
	quote := text[start]
	for i := start + 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return inner, i
		case quote == '"' && text[i] == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
		}
		inner = append(inner, text[i])
	}
	return nil, 0
}

func isSpace(r rune) bool { return unicode.IsSpace(r) }
func isQuote(r rune) bool { return r == '"' || r == '\'' }
