// Package provider is a fake model server: it answers an agent's model calls over real HTTP with what a script says,
// failures of every kind included, and records every request. Tests start it in their process; `acpconform provider` is the
// same as a process of its own, for tests in other languages and for people who try an agent offline.
//
// It knows no agent and no ACP, judges no request, and makes its JSON by itself: a bug in the client of an agent must not
// be hidden by the same bug here.
//
// # What it serves
//
//	POST …/chat/completions   OpenAI chat completions, streamed or whole; any path before it
//	GET  …/models             the list of Config.Models
//	GET  /_requests           what was recorded; ?calls=N waits until there are N model calls, ?hanging=N until N hang
//	DELETE /_requests         forgets it, but for what is still open
//	POST /_script             JSON lines: a new script, which begins at its first line
//	POST /_release            lets go what hangs; ?number=N only that request
//
// Other wires (OpenAI Responses, Anthropic, Gemini) will each be one more value of the interface wire; what a script says,
// how bytes are framed, cut and timed, and what is recorded do not depend on the wire.
//
// # Who answers
//
// For each model call, the first that has something to say:
//
//  1. Config.Handler.
//  2. A script in the prompt: the last user message with @@[reply, reply, …]@@ in its text. The first call that has it gets
//     the first reply, and each assistant message behind it counts one on. So does a reply of the script that failed, which
//     leaves no assistant message: what a client asks again gets the next reply. Past the end the answer is the text "ok".
//     Prompts with the same text are told apart only one after the other.
//  3. The script: one line per model call, in the order in which the calls arrive. Past the end the answer is HTTP 400.
//  4. Without any script, the text "ok".
//
// The format is ProviderReply in schema/script/v1; docs/provider.md shows it with examples.
package provider
