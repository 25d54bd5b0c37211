package terminal

import (
	"fmt"
	"strings"
)

// picture is an edited text as it stands on the screen, in rows none of which
// reaches the last column, so that the terminal never wraps by itself.
type picture struct {
	rows     []string
	row, col int // of the cursor
}

const tabWidth = 4

// paint lays out prompt and text in a terminal of the given size. Rows of the
// text below the first begin below its first column. Of more rows than the
// terminal has, those around the cursor are shown.
func (e *Editor) paint(prompt string, wide, high int) picture {
	wide = max(wide-1, 8)
	indent := 0
	for _, r := range prompt {
		indent += columns(r)
	}
	if indent > wide/2 {
		indent = 0
	}
	var p picture
	row, used := strings.Builder{}, indent
	next := func() {
		p.rows = append(p.rows, row.String())
		row.Reset()
		row.WriteString(strings.Repeat(" ", indent))
		used = indent
	}
	for i, r := range e.text {
		cells, shown := columns(r), string(r)
		switch r {
		case '\t':
			cells, shown = tabWidth, strings.Repeat(" ", tabWidth)
		case '\n':
			cells, shown = 0, ""
		}
		if used+cells > wide {
			next()
		}
		if i == e.pos {
			p.row, p.col = len(p.rows), used
		}
		if r == '\n' {
			next()
			continue
		}
		row.WriteString(shown)
		used += cells
	}
	if e.pos == len(e.text) {
		if used == wide {
			next()
		}
		p.row, p.col = len(p.rows), used
	}
	p.rows = append(p.rows, row.String())
	p.rows[0] = prompt + p.rows[0]
	if most := max(high-1, 1); len(p.rows) > most {
		first := min(max(0, p.row-most/2), len(p.rows)-most)
		p.rows, p.row = p.rows[first:first+most], p.row-first
	}
	return p
}

// draw is what puts the picture on a terminal whose cursor stands in the row
// that is cursorRow below the picture's first one.
func (p picture) draw(cursorRow int) string {
	var b strings.Builder
	b.WriteString(erase(cursorRow))
	b.WriteString(strings.Join(p.rows, "\r\n"))
	if up := len(p.rows) - 1 - p.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if p.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", p.col)
	}
	return b.String()
}

// erase takes a picture away whose cursor stands in row cursorRow.
func erase(cursorRow int) string {
	if cursorRow > 0 {
		return fmt.Sprintf("\x1b[%dA\r\x1b[J", cursorRow)
	}
	return "\r\x1b[J"
}
