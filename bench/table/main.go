// Command table runs the benchmarks of the folder above in rounds, pairs ours
// with the peer's and prints both beside the aims, as a Markdown table. It
// judges and fails nothing: on a shared machine a time is no test.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	rounds := flag.Int("count", 15, "rounds; the table shows medians over them")
	pattern := flag.String("bench", ".", "which benchmarks, as in go test -bench")
	each := flag.String("benchtime", "100ms", "how long each benchmark runs in a round, as in go test -benchtime")
	dir := flag.String("dir", ".", "the bench module")
	flag.Parse()
	if err := run(*dir, *pattern, *each, *rounds, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(dir, pattern, each string, rounds int, out, progress io.Writer) error {
	tmp, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	binary := filepath.Join(tmp, "bench.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Dir, build.Stderr = dir, progress
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the benchmarks: %w", err)
	}
	// Round by round, not -test.count: what else the machine does in a while
	// then touches both sides of a pair alike.
	var all results
	before := load()
	for i := range rounds {
		fmt.Fprintf(progress, "round %d of %d\n", i+1, rounds)
		var lines bytes.Buffer
		cmd := exec.Command(binary, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+each, "-test.benchmem")
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &lines, progress
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w\n%s", err, lines.Bytes())
		}
		if err := all.read(&lines); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s\n\n", machine(all.cpu, before))
	return all.print(out)
}
