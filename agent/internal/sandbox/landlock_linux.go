package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// leastLandlock is the kernel interface that can keep files from being cut (Linux 6.2). With less, every file that the
// user owns could be emptied.
const leastLandlock = 3

// What the rules are made of.
const (
	readFiles = landlock.AccessFSSet(ll.AccessFSExecute | ll.AccessFSReadFile)
	readDirs  = landlock.AccessFSSet(ll.AccessFSReadDir)
	writeFile = landlock.AccessFSSet(ll.AccessFSWriteFile | ll.AccessFSTruncate)
	writeDir  = landlock.AccessFSSet(ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer)
)

// confine restricts this process, all its threads and what it will be, for good.
func confine(l *Limits) error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return fmt.Errorf("the kernel has no Landlock: %w", err)
	}
	if abi < leastLandlock {
		return fmt.Errorf("the kernel's Landlock has version %d, and %d is needed", abi, leastLandlock)
	}
	conf := landlock.V7
	conf.HandledAccessNet = 0 // the filter below does that, for every kind of socket
	rules, err := landlockRules(l)
	if err != nil {
		return err
	}
	if err := conf.BestEffort().Restrict(rules...); err != nil {
		return err
	}
	return filterCalls(l.Network)
}

// landlockRules allow, since Landlock cannot forbid: to hide a path, each folder above it is allowed entry by entry. The
// names in a folder are readable everywhere.
func landlockRules(l *Limits) ([]landlock.Rule, error) {
	rules := []landlock.Rule{landlock.PathAccess(readDirs, "/")}
	hidden := existing(l.Hide)
	reading, err := around("/", hidden)
	if err != nil {
		return nil, err
	}
	for _, p := range reading {
		rules = append(rules, rule(p, readFiles, 0))
	}
	write := l.Write
	if l.Temp != "" {
		write = append([]string{l.Temp}, write...)
	}
	for _, dir := range existing(write) {
		writing, err := around(dir, hidden)
		if err != nil {
			return nil, err
		}
		for _, p := range writing {
			rules = append(rules, rule(p, readFiles|writeFile, readDirs|writeDir))
		}
	}
	for _, dev := range existing([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}) {
		rules = append(rules, rule(dev, readFiles|writeFile, 0))
	}
	return rules, nil
}

func rule(path string, file, dir landlock.AccessFSSet) landlock.Rule {
	if isDir(path) {
		file |= dir
	}
	return landlock.PathAccess(file, path).IgnoreIfMissing()
}

// around is dir when nothing in it is hidden, else the entries of dir that are not, and so on below. A dir that is hidden
// itself gives nothing.
func around(dir string, hidden []string) ([]string, error) {
	inside := false
	for _, h := range hidden {
		if h == dir || strings.HasPrefix(dir, strings.TrimSuffix(h, "/")+"/") {
			return nil, nil
		}
		inside = inside || strings.HasPrefix(h, strings.TrimSuffix(dir, "/")+"/")
	}
	if !inside {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 { // what it leads to has rules of its own
			continue
		}
		below, err := around(p, hidden)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}
