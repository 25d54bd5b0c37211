// A host on the TypeScript SDK that drives an agent through a list of steps in one session and prints what it saw as one
// line of JSON. It judges nothing; the Go test does.
//
//   node host.mjs WORKSPACE STEP,STEP,… AGENT [ARG…]
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import * as acp from "@agentclientprotocol/sdk";

const [workspace, steps, command, ...args] = process.argv.slice(2);
const { agent, client } = acp.methods;
const child = spawn(command, args, { cwd: workspace, stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
child.on("error", (e) => die(e));
const watchdog = setTimeout(() => die(new Error("no end after 60 s")), 60_000);

function die(error) {
  console.error("host.mjs:", error);
  child.kill();
  process.exit(1);
}

const text = (t) => ({ type: "text", text: t });
const choose = (request, kind) => ({ outcome: { outcome: "selected", optionId: request.options.find((o) => o.kind === kind).optionId } });
const cancelled = { outcome: { outcome: "cancelled" } };

// The turn that runs, as it is reported; null between turns.
let turn = null, session = "", late = 0;
// The kinds of updates of a session that is being loaded; null at other times.
let replay = null;

function begin(step) {
  return { step, stopReason: "", thought: "", text: "", plan: [], tools: [], asked: [], file: "", answer: null, onText: null };
}

function update({ params: { sessionId, update: u } }) {
  if (replay !== null && sessionId === session) {
    replay.push(u.sessionUpdate + (u.status ? " " + u.status : ""));
    return;
  }
  if (sessionId !== session || turn === null) {
    if (["agent_message_chunk", "agent_thought_chunk", "plan", "tool_call", "tool_call_update"].includes(u.sessionUpdate)) late++;
    return;
  }
  switch (u.sessionUpdate) {
    case "agent_thought_chunk":
      turn.thought += u.content.text;
      break;
    case "agent_message_chunk":
      turn.text += u.content.text;
      turn.onText?.();
      break;
    case "plan":
      turn.plan = u.entries.map((e) => e.status);
      break;
    case "tool_call":
      turn.tools.push({ id: u.toolCallId, name: u.name ?? "", kind: u.kind ?? "other", statuses: [u.status ?? "pending"], diff: hasDiff(u) });
      break;
    case "tool_call_update": {
      const tool = turn.tools.find((t) => t.id === u.toolCallId);
      if (u.status) tool.statuses.push(u.status);
      if (u.content) tool.diff = hasDiff(u);
    }
  }
}

const hasDiff = (u) => (u.content ?? []).some((c) => c.type === "diff");

async function permission({ params }) {
  const answer = turn.answer ? await turn.answer(params) : choose(params, "reject_once");
  turn.asked.push({
    tool: turn.tools.find((t) => t.id === params.toolCall.toolCallId)?.name ?? "(not announced)",
    kinds: params.options.map((o) => o.kind),
    answer: answer.outcome.optionId ? params.options.find((o) => o.optionId === answer.outcome.optionId).kind : answer.outcome.outcome,
  });
  return answer;
}

// What each step prompts with, and how it behaves during the turn.
const script = {
  allow() {
    turn.answer = (request) => choose(request, "allow_once");
    const readme = pathToFileURL(path.join(workspace, "README.md")).href;
    return [text("first note"), { type: "resource_link", name: "README.md", uri: readme },
      { type: "resource", resource: { uri: readme, mimeType: "text/markdown", text: "# Workspace\n" } }];
  },
  again() {
    turn.answer = (request) => choose(request, "allow_once");
    return [text("second note, with “quotes”, 🙂 and\ttabs")];
  },
  code() {
    turn.answer = (request) => choose(request, "allow_once");
    return [text("Make the tests pass.")];
  },
  "code-refused"() {
    turn.answer = (request) => choose(request, request.toolCall.kind === "edit" ? "reject_once" : "allow_once");
    return [text("Make the tests pass.")];
  },
  refuse() {
    turn.answer = (request) => choose(request, "reject_once");
    return [text("refused note")];
  },
  cancel(ctx) {
    turn.onText = () => {
      turn.onText = null;
      ctx.notify(agent.session.cancel, { sessionId: session }).catch(die);
    };
    return [text("a slow one")];
  },
  "cancel-permission"(ctx) {
    turn.answer = async () => {
      await ctx.notify(agent.session.cancel, { sessionId: session });
      return cancelled;
    };
    return [text("cancelled note")];
  },
};

// errors asks for what cannot be done, and returns the codes.
async function errors(ctx) {
  const calls = {
    "unknown method": ["_interop.test/unknown", {}],
    "unknown session": [agent.session.prompt, { sessionId: "nobody", prompt: [text("hi")] }],
    "relative cwd": [agent.session.new, { cwd: "relative", mcpServers: [] }],
    "empty prompt": [agent.session.prompt, { sessionId: session, prompt: [] }],
  };
  const codes = {};
  for (const [name, [method, params]] of Object.entries(calls)) {
    codes[name] = await ctx.request(method, params).then(() => 0, (e) => e.code);
  }
  await ctx.notify("_interop.test/event", { any: "thing" });
  return codes;
}

// reopen takes the stored session of the workspace over, as a host does that was started anew: list, load with its replay, close,
// resume, and at the end delete.
async function reopen(ctx, seen) {
  const list = (await ctx.request(agent.session.list, { cwd: workspace })).sessions;
  seen.listed = list.length;
  seen.title = list[0]?.title ?? "";
  session = list[0].sessionId;
  replay = [];
  const loaded = await ctx.request(agent.session.load, { sessionId: session, cwd: workspace, mcpServers: [] });
  seen.replay = replay;
  replay = null;
  seen.mode = loaded.modes.currentModeId;
  await ctx.request(agent.session.close, { sessionId: session });
  await ctx.request(agent.session.resume, { sessionId: session, cwd: workspace, mcpServers: [] });
}

// remove deletes the session and looks whether it is gone.
async function remove(ctx, seen) {
  await ctx.request(agent.session.delete, { sessionId: session });
  seen.left = (await ctx.request(agent.session.list, {})).sessions.length;
  seen.code = await ctx.request(agent.session.load, { sessionId: session, cwd: workspace, mcpServers: [] }).then(() => 0, (e) => e.code);
}

async function drive(ctx) {
  const init = await ctx.request(agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {}, clientInfo: { name: "interop-ts-host", version: "0" } });
  if (!steps.startsWith("reopen")) {
    session = (await ctx.request(agent.session.new, { cwd: workspace, mcpServers: [] })).sessionId;
  }
  const summary = { protocolVersion: init.protocolVersion, agent: init.agentInfo?.name ?? "", turns: [] };
  for (const step of steps.split(",")) {
    if (step === "errors") {
      summary.errors = await errors(ctx);
      continue;
    }
    if (step === "reopen" || step === "delete") {
      summary.reopened ??= {};
      await (step === "reopen" ? reopen : remove)(ctx, summary.reopened);
      continue;
    }
    turn = begin(step);
    const prompt = script[step](ctx);
    const { stopReason } = await ctx.request(agent.session.prompt, { sessionId: session, prompt });
    const { answer, onText, ...seen } = turn;
    turn = null;
    const note = path.join(workspace, "acpkit-demo.md");
    summary.turns.push({ ...seen, stopReason, file: fs.existsSync(note) ? fs.readFileSync(note, "utf8") : "" });
  }
  return summary;
}

try {
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const summary = await acp.client({ name: "interop-ts-host" })
    .onNotification(client.session.update, update)
    .onRequest(client.session.requestPermission, permission)
    .connectWith(stream, drive);
  child.stdin.end();
  const exit = await exited;
  console.log(JSON.stringify({ ...summary, late, exit }));
  clearTimeout(watchdog);
} catch (e) {
  die(e);
}
