// A small agent on the TypeScript SDK. The first word of the prompt says what a turn does:
//
//   write  thinks, plans, asks for permission and writes note.txt through the host; the rest of the prompt is the content
//   slow   streams until it is cancelled
//   burst  streams as fast as it can: BURST chunks, each with its number
//   probe  asks the host for what it cannot do, and says the error codes
//
//   node agent.mjs
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const BURST = 3000;
const { agent, client } = acp.methods;
const sessions = new Map(); // id → { cwd, stop: AbortController of the running turn }

const chunk = (kind, text) => ({ sessionUpdate: kind, content: { type: "text", text } });
const block = (text) => ({ type: "content", content: { type: "text", text } });

class Turn {
  constructor(host, sessionId, session) {
    Object.assign(this, { host, sessionId, cwd: session.cwd, signal: session.stop.signal });
  }
  update = (update) => this.host.notify(client.session.update, { sessionId: this.sessionId, update });
  think = (text) => this.update(chunk("agent_thought_chunk", text));
  say = (text) => this.update(chunk("agent_message_chunk", text));
  plan = (status) => this.update({ sessionUpdate: "plan", entries: [{ content: "Write note.txt", priority: "high", status }] });

  // write ends the turn as its permission request ends.
  async write(content) {
    const toolCallId = "write-" + crypto.randomUUID(), file = path.join(this.cwd, "note.txt");
    const change = { type: "diff", path: file, oldText: null, newText: content };
    await this.think("I shall write ");
    await this.think("a note.");
    await this.plan("in_progress");
    await this.say("I ask first. ");
    const call = { toolCallId, title: "Write note.txt", kind: "edit", status: "pending", content: [change], locations: [{ path: file, line: 1 }], rawInput: { content } };
    await this.update({ sessionUpdate: "tool_call", ...call });
    const { outcome } = await this.host.request(client.session.requestPermission, {
      sessionId: this.sessionId, toolCall: call, options: [
        { optionId: "yes", name: "Write it", kind: "allow_once" },
        { optionId: "no", name: "Leave it", kind: "reject_once" },
      ] });
    const report = (status, ...content) => this.update({ sessionUpdate: "tool_call_update", toolCallId, status, content });
    if (this.signal.aborted || outcome.outcome === "cancelled") {
      await report("failed", block("cancelled"));
      return "cancelled";
    }
    if (outcome.optionId !== "yes") {
      await report("failed", block("refused"));
      await this.say("It was refused.");
      return "end_turn";
    }
    await this.update({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
    await this.host.request(client.fs.writeTextFile, { sessionId: this.sessionId, path: file, content });
    const { content: back } = await this.host.request(client.fs.readTextFile, { sessionId: this.sessionId, path: file });
    await report("completed", change, block(`${back.length} characters`));
    await this.plan("completed");
    await this.say("It is written.");
    return "end_turn";
  }

  async slow() {
    for (let n = 1; !this.signal.aborted; n++) {
      await this.say(`${n} `);
      await sleep(10);
    }
    return "cancelled";
  }

  async burst() {
    await Promise.all(Array.from({ length: BURST }, (_, n) => this.say(`${n} `)));
    return "end_turn";
  }

  async probe() {
    const params = { sessionId: this.sessionId };
    const calls = {
      "unknown method": ["_interop.test/unknown", params],
      "missing file": [client.fs.readTextFile, { ...params, path: path.join(this.cwd, "missing.txt") }],
      "no terminals": [client.terminal.create, { ...params, command: "true" }],
    };
    const codes = await Promise.all(Object.entries(calls).map(async ([name, [method, params]]) =>
      name + " " + (await this.host.request(method, params).then(() => 0, (e) => e.code))));
    await this.host.notify("_interop.test/event", params);
    await this.say(codes.join(", "));
    return "end_turn";
  }
}

async function prompt({ params: { sessionId, prompt }, client: host }) {
  const session = sessions.get(sessionId);
  if (!session) throw acp.RequestError.invalidParams(undefined, `unknown session ${sessionId}`);
  session.stop = new AbortController();
  const [word, ...rest] = prompt.map((b) => b.text ?? "").join("").split(" ");
  return { stopReason: await new Turn(host, sessionId, session)[word](rest.join(" ")) };
}

acp.agent({ name: "interop-ts-agent" })
  .onRequest(agent.initialize, () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {}, agentInfo: { name: "interop-ts-agent", version: "0" } }))
  .onRequest(agent.session.new, ({ params: { cwd } }) => {
    const sessionId = crypto.randomUUID();
    sessions.set(sessionId, { cwd, stop: new AbortController() });
    return { sessionId };
  })
  .onRequest(agent.session.prompt, prompt)
  .onNotification(agent.session.cancel, ({ params: { sessionId } }) => sessions.get(sessionId)?.stop.abort())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
