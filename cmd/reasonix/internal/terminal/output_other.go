//go:build !windows

package terminal

import "os"

// understands is true: terminals obey escape sequences.
func understands(*os.File) bool { return true }
