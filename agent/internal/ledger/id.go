package ledger

import (
	"fmt"
	"strings"
)

// maxID keeps an id a file name everywhere.
const maxID = 128

// ValidID says whether id can name a session: it is a plain file name on every
// system, without a leading dot (the store's own names have one), without a
// trailing one (Windows drops it), and no device of Windows.
func ValidID(id string) bool {
	if id == "" || len(id) > maxID || id[0] == '.' || id[len(id)-1] == '.' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !isLower(c) && !isDigit(c) && (c < 'A' || c > 'Z') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return !isDevice(id)
}

func badID(id string) error {
	return fmt.Errorf("session id %q: it has to be 1 to %d letters, digits, '-', '_' and '.', with no dot at either end", id, maxID)
}

// isDevice knows the names that Windows reserves, with any extension.
func isDevice(id string) bool {
	name, _, _ := strings.Cut(id, ".")
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && isDigit(name[3]) && (name[:3] == "com" || name[:3] == "lpt")
}

// maxKind is the longest kind of a record.
const maxKind = 32

func validKind(kind string) bool {
	if kind == "" || len(kind) > maxKind || !isLower(kind[0]) {
		return false
	}
	for i := range len(kind) {
		if c := kind[i]; !isLower(c) && !isDigit(c) && c != '_' {
			return false
		}
	}
	return true
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
