//go:build !linux

package workspace

import "os"

func rename(from *os.Root, old string, to *os.Root, new string) error {
	return renameIfFree(from, old, to, new)
}
