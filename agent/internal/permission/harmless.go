package permission

import (
	"slices"
	"strings"
)

// harmless reports whether a line consists of programs that are known to write nothing and to run nothing, with flags
// that keep it so, and names no file outside the workspace.
func (p *Policy) harmless(c *commandLine) bool {
	if c.opaque || len(c.simple) == 0 {
		return false
	}
	for i := range c.simple {
		if !p.harmlessSimple(c, &c.simple[i]) {
			return false
		}
	}
	return true
}

func (p *Policy) harmlessSimple(c *commandLine, s *simple) bool {
	argv, static := s.static()
	if !static || !s.plain || len(argv) == 0 || c.bases == nil {
		return false
	}
	if !knownHarmless(argv[0], argv[1:]) {
		return false
	}
	if argv[0] == "echo" || argv[0] == "printf" || argv[0] == "true" || argv[0] == "false" || argv[0] == "pwd" {
		return true
	}
	return !slices.ContainsFunc(argv[1:], func(arg string) bool { return !c.inside(arg) })
}

// inside reports whether a word names no file outside the workspace. Every word could be one, and so could the value of
// a flag.
func (c *commandLine) inside(arg string) bool {
	names := []string{arg}
	if strings.HasPrefix(arg, "-") {
		_, value, ok := strings.Cut(arg, "=")
		if ok {
			names = []string{value}
		} else if names = nil; len(arg) > 2 && arg[1] != '-' {
			names = []string{arg[2:]} // -fFILE
		}
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		// HEAD:path, A..B and the like name nothing outside; a path with a folder above does.
		if c.resolve == nil {
			if strings.ContainsAny(name, "/.") {
				return false
			}
			continue
		}
		for _, b := range c.bases {
			if _, inside, err := c.resolve(join(b, name)); err != nil || !inside {
				return false
			}
		}
	}
	return true
}

// knownHarmless is the table of programs. What a flag can make harmful is refused by the beginning of the flag, since
// programs take long flags shortened.
func knownHarmless(name string, args []string) bool {
	switch name {
	case "ls", "cat", "head", "wc", "pwd", "echo", "true", "false", ":", "basename", "dirname", "realpath", "readlink", "stat",
		"nl", "tac", "cut", "tr", "comm", "cmp", "fold", "uname", "whoami", "id", "which", "cd",
		"md5sum", "sha1sum", "sha256sum", "cksum":
		return true
	case "test", "[", "printf":
		return !slices.Contains(args, "-v") // evaluates its argument
	case "file":
		return !flagged(args, "C", "--compile", "z", "Z", "--uncompress")
	case "tail":
		return !flagged(args, "f", "F", "--follow", "--retry", "--pid")
	case "date":
		return !flagged(args, "s", "--set") && !slices.ContainsFunc(args, func(a string) bool { return a[:min(1, len(a))] != "+" && a[:min(1, len(a))] != "-" })
	case "sort":
		return !flagged(args, "o", "--output", "--compress-program", "T", "--temporary-directory", "--files0-from")
	case "uniq":
		return operands(args) < 2 && !flagged(args, "f", "s", "w") // the second is written to
	case "diff":
		return !flagged(args, "l", "--paginate", "--output", "--to-file", "--from-file")
	case "grep", "egrep", "fgrep":
		return !flagged(args, "R", "--dereference-recursive")
	case "rg":
		return !flagged(args, "--pre", "z", "--search-zip", "L", "--follow", "--hostname-bin", "--config")
	case "find":
		return !slices.ContainsFunc(args, func(a string) bool {
			return a == "-L" || a == "-H" || a == "-delete" || a == "-follow" || strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") ||
				strings.HasPrefix(a, "-fprint") || a == "-fls" || strings.HasPrefix(a, "-files0")
		})
	case "tree":
		return !flagged(args, "o", "l", "R")
	case "git":
		return harmlessGit(args)
	}
	return false
}

func harmlessGit(args []string) bool {
	if len(args) == 0 || flagged(args, "--output", "--ext-diff", "--textconv", "--no-index", "--open-files-in-pager", "O", "--exec", "--upload-pack", "--contents") {
		return false
	}
	rest := args[1:]
	only := func(words ...string) bool {
		return !slices.ContainsFunc(rest, func(a string) bool { return !slices.Contains(words, a) })
	}
	switch args[0] {
	case "status", "diff", "log", "show", "rev-parse", "ls-files", "ls-tree", "blame", "describe", "shortlog", "cat-file", "merge-base", "rev-list", "name-rev":
		return true
	case "grep":
		return !flagged(rest, "f")
	case "branch":
		return only("-a", "-r", "-v", "-vv", "--list", "-l", "--all", "--remotes", "--verbose", "--show-current")
	case "remote":
		return only("-v", "--verbose")
	case "tag":
		return only("-l", "--list", "-n")
	case "stash":
		return len(rest) > 0 && rest[0] == "list"
	case "version":
		return true
	}
	return false
}

// flagged reports whether one of the flags may be among the arguments: a single letter in any group of letters, a long
// one by any beginning that could be taken for it.
func flagged(args []string, flags ...string) bool {
	for _, a := range args {
		if len(a) < 2 || a[0] != '-' { // also behind a "--", which could be the value of a flag
			continue
		}
		long, _, _ := strings.Cut(a, "=")
		for _, f := range flags {
			switch {
			case len(f) == 1 && a[1] != '-' && strings.Contains(a[1:], f):
				return true
			case len(f) > 1 && len(long) > 2 && long[1] == '-' && (strings.HasPrefix(f, long) || long == f):
				return true
			}
		}
	}
	return false
}

func operands(args []string) int {
	n := 0
	for _, a := range args {
		if a == "-" || !strings.HasPrefix(a, "-") {
			n++
		}
	}
	return n
}
