package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// sample is one line of benchmark output: unit → value.
type sample map[string]float64

// time is nanoseconds for one item: of the median where there is one.
func (s sample) time() float64 {
	if p50, ok := s["p50-ns"]; ok {
		return p50
	}
	return s["ns/op"] / s.items()
}

// cpu is processor time for one item.
func (s sample) cpu() float64 { return s["cpu-ns"] / s.items() }

func (s sample) items() float64 { return max(1, s["items"]) }

func (s sample) allocs() float64 { return s["allocs/op"] / s.items() }

// row is one benchmark with both sides, a sample for each round.
type row struct {
	name      string
	ours, sdk []sample
}

type results struct {
	rows []*row // in the order of the output
	cpu  string
}

var benchLine = regexp.MustCompile(`^Benchmark(\S+)/(ours|sdk|plain|floor)(?:-\d+)?\s+\d+\s+(.*)$`)

// read adds the output of one round.
func (r *results) read(out io.Reader) error {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if cpu, ok := strings.CutPrefix(lines.Text(), "cpu: "); ok {
			r.cpu = cpu
		}
		m := benchLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		s := sample{}
		for f := strings.Fields(m[3]); len(f) >= 2; f = f[2:] {
			v, err := strconv.ParseFloat(f[0], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			s[f[1]] = v
		}
		switch row := r.row(m[1]); m[2] {
		case "ours":
			row.ours = append(row.ours, s)
		case "sdk", "plain": // without an SDK: what the system alone takes
			row.sdk = append(row.sdk, s)
		default: // what both have in common
			row := r.row(m[1] + "/floor")
			row.ours = append(row.ours, s)
		}
	}
	return lines.Err()
}

func (r *results) row(name string) *row {
	for _, row := range r.rows {
		if row.name == name {
			return row
		}
	}
	r.rows = append(r.rows, &row{name: name})
	return r.rows[len(r.rows)-1]
}

// print writes one line for each pair. A ratio is that of one round; the table
// shows the median of them and the range, and in how many rounds an aim is met.
func (r *results) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	line := func(cells ...string) { fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	line("benchmark", "ours", "sdk", "ratio", "range", "cpu", "allocs", "sdk's", "aim", "met")
	line("---", "---:", "---:", "---:", "---", "---:", "---:", "---:", "---", "---")
	for _, row := range r.rows {
		line(row.cells(aimOf(row.name))...)
	}
	return t.Flush()
}

func (r *row) cells(a aim) []string {
	time, allocs := median(each(r.ours, sample.time)), median(each(r.ours, sample.allocs))
	switch {
	case len(r.ours) != len(r.sdk): // a row of ours alone
		return []string{r.name, duration(time), "", "", "", "", short(allocs), "", "", ""}
	case a.kind == lost:
		ours, sdk := median(each(r.ours, sample.lost)), median(each(r.sdk, sample.lost))
		return []string{r.name, short(ours), short(sdk), "", "", "", "", "", a.String(), verdict(ours == 0)}
	}
	var ratios, cpu []float64
	met := 0
	for i := range r.ours {
		ratio, spent := r.sdk[i].time()/r.ours[i].time(), r.sdk[i].cpu()/r.ours[i].cpu()
		if a.kind == atMost {
			ratio, spent = 1/ratio, 1/spent
		}
		if a.met(ratio, r.ours[i].allocs()) {
			met++
		}
		ratios, cpu = append(ratios, ratio), append(cpu, spent)
	}
	judged := ""
	if a.kind != none {
		judged = fmt.Sprintf("%s, %d of %d", verdict(a.met(median(ratios), allocs)), met, len(ratios))
	}
	return []string{
		r.name, duration(time), duration(median(each(r.sdk, sample.time))),
		times(median(ratios)), fmt.Sprintf("%.2f–%.2f", slices.Min(ratios), slices.Max(ratios)), times(median(cpu)),
		short(allocs), short(median(each(r.sdk, sample.allocs))), a.String(), judged,
	}
}

func times(ratio float64) string { return fmt.Sprintf("%.2fx", ratio) }

func short(n float64) string { return fmt.Sprintf("%.4g", n) }

func (s sample) lost() float64 { return s["lost"] }

func verdict(met bool) string {
	if met {
		return "yes"
	}
	return "NO"
}

func each(samples []sample, f func(sample) float64) (list []float64) {
	for _, s := range samples {
		list = append(list, f(s))
	}
	return list
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	if n == 0 {
		return 0
	}
	return (list[(n-1)/2] + list[n/2]) / 2
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.0f ns", ns)
	}
}

// machine says where the figures are from.
func machine(cpu, before string) string {
	s := fmt.Sprintf("%s, %d cores, %s, %s/%s, %s", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, time.Now().Format(time.DateOnly))
	if before != "" {
		s += fmt.Sprintf("; load average %s before, %s after", before, load())
	}
	return s
}

// load is the load average of the last minute, "" where there is none.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
