// Package transcript reads the script of a golden transcript and writes down what crossed the wire while it was played.
//
// It knows text: the lines of a script, the JSON of a message, the names that stand for volatile values, the lines of a
// transcript. It knows no process, no pipe and no clock (package play does), and no ACP type: messages stay raw JSON with
// their members in the order of the wire, because a decoder that drops a field cannot show that field. The language that
// people write is documented once, in package conformance.
//
// The path of a message: [ParseMessage] reads one line of the agent; a [Recorder] is told what crosses, in order, gives
// names to volatile values ($session1) and translates names in the script back ([Recorder.Expand]); [Recorder.Lines] joins
// chunks, normalises and renders; [Format] and [Parse] turn lines into text and back.
//
// # Which values get a name, and when
//
// A name is given when an agent line enters the transcript, in the order of the agent's lines, so it is as deterministic as
// the agent. The text of message chunks is left out at that moment, because how text is cut may differ from run to run; what
// is found only there is named at the end, from the joined text. A value that the script itself spells out is not volatile
// and keeps its spelling: a script that loads session "11111111-…" reads that id in its transcript.
package transcript
