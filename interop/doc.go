// Package interop runs real peers from npm, at pinned versions, against this module. It has only tests, and they are built
// with the tag interop, because they need node_modules:
//
//	npm ci --prefix interop --ignore-scripts
//	go test -tags interop -count=1 ./interop/...
//
// What is run:
//
//   - the published schema against ours, through `acpgen drift`
//   - hosts against `reasonix acp --model offline/demo`: one written on the TypeScript SDK (ts/host.mjs), and acpx, a
//     command-line host that is nobody's here
//   - an agent written on the TypeScript SDK (ts/agent.mjs) against our Go package host
//   - the real reasonix and ours, one after the other, against the same script and the same fake model; what they say
//     differently stands in testdata/differences.txt with its reason
//
// Between a host and its agent stands the program in tee, which records every line; package internal/wire judges the
// recording by the published schema and by the rules that hold for all traffic. Nothing is skipped: without node_modules,
// or with other versions in it than package.json pins, the tests fail and say what to run. README.md says more.
package interop
