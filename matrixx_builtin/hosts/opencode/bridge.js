// Matrixx for OpenCode: asks the Matrixx engine before and after what the agent does.
// Written by `matrixx install opencode`; remove it with `matrixx uninstall opencode`.
const INSTALLED = { command: ["matrixx", "serve", "opencode"], failClosed: false } // @installed

import { spawn } from "node:child_process"

const PROTOCOL = 1
const READY_MS = 15_000 // a cold Python with sixty plugins is ready in under a second
const TOOLS_MS = 5_000 // OpenCode asks for a plugin's tools once, at init: they are worth a short wait
const TOOL_MS = 900_000 // the engine knows each tool's own deadline; this is the last resort
const DISPOSE_MS = 2_000 // OpenCode waits for dispose without a limit of its own
const LINE_LIMIT = 64 * 1024 * 1024 // the engine drops longer lines
const ATTACHED_LIMIT = 32 * 1024 * 1024 // characters: with larger files a result goes to the engine without them
const BACKOFF_MS = [0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]
const GUARDED = new Set(["tool.execute.before", "chat.message", "command.execute.before"])

const weigh = (files) => (Array.isArray(files) ? files.reduce((sum, one) => sum + (one?.url?.length ?? 0), 0) : 0)

// What of a hook's payload the engine is sent; the rest is large, secret or has no JSON form.
const model = (m) => m && { id: m.id ?? m.modelID, providerID: m.providerID, limit: m.limit }
const request = (i) => ({ sessionID: i.sessionID, agent: i.agent, model: model(i.model), message: i.message && { variant: i.message.model?.variant ?? i.message.variant } })
const SEND = {
  "tool.definition": (i, o) => [i, { description: o.description, jsonSchema: o.jsonSchema }],
  "chat.params": (i, o) => [request(i), o],
  "chat.headers": (i, o) => [request(i), o],
  "experimental.chat.system.transform": (i, o) => [request(i), o],
  "tool.execute.after": (i, o) => [i, { ...o, attachments: weigh(o.attachments) <= ATTACHED_LIMIT ? o.attachments : undefined }],
}

// The name that the engine's interest is about: a tool, a command, or nothing.
const SUBJECT = {
  "tool.definition": (i) => i.toolID,
  "tool.execute.before": (i) => i.tool,
  "tool.execute.after": (i) => i.tool,
  "command.execute.before": (i) => i.command,
}

const HOOKS = ["tool.definition", "chat.message", "chat.params", "chat.headers", "command.execute.before", "tool.execute.before",
  "tool.execute.after", "shell.env", "experimental.chat.messages.transform", "experimental.chat.system.transform",
  "experimental.session.compacting", "experimental.text.complete"]

// Providers reuse call ids across sessions.
const callOf = (input) => `${input.sessionID} ${input.callID}`

const includes = (row, name) => row !== undefined && row.names.includes(name ?? "") !== row.others

// OpenCode keeps its own references to arrays and objects: they are filled, never replaced.
function fill(target, value) {
  if (Array.isArray(target)) return void target.splice(0, target.length, ...value)
  for (const key of Object.keys(target)) if (!(key in value)) delete target[key]
  Object.assign(target, value)
}

function edit(output, path, value) {
  const last = path[path.length - 1]
  let target = output
  for (const key of path.slice(0, -1)) target = target?.[key]
  if (!target) return
  const there = target[last]
  const alike = there && value && typeof there === "object" && typeof value === "object" && Array.isArray(there) === Array.isArray(value)
  if (alike) fill(there, value)
  else if (value === null && !Array.isArray(target)) delete target[last]
  else target[last] = value
}

class Engine {
  constructor(ctx) {
    this.ctx = ctx
    this.failClosed = INSTALLED.failClosed
    this.interest = null // unknown until the engine is ready
    this.timeoutMs = READY_MS
    this.pending = new Map()
    this.followed = new Set()
    this.tools = {}
    this.number = 0
    this.attempt = 0
    this.closed = false
    this.told = false
    this.start()
  }

  start() {
    if (this.closed) return
    this.interest = null
    this.ready = new Promise((resolve) => { this.resolveReady = resolve })
    this.failed = ""
    let child
    try {
      child = spawn(INSTALLED.command[0], INSTALLED.command.slice(1), { stdio: ["pipe", "pipe", "ignore"], detached: true, cwd: this.ctx.directory })
    } catch (error) {
      return this.lost(null, error.message)
    }
    this.child = child
    child.on("error", (error) => this.lost(child, error.message))
    child.on("exit", (code, signal) => this.lost(child, `it ended with ${signal ?? code}`))
    child.stdin.on("error", () => {})
    let rest = ""
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n")
      rest = lines.pop()
      for (const line of lines) if (line) this.take(child, line)
    })
    for (const handle of [child, child.stdin, child.stdout]) handle.unref?.()
    this.write({ op: "hello", protocol: PROTOCOL, pid: process.pid, oneShot: process.argv.includes("run"),
      directory: this.ctx.directory, worktree: this.ctx.worktree })
    this.readyTimer = this.later(READY_MS, () => { if (!this.interest) this.kill(child, `not ready within ${READY_MS} ms`) })
  }

  later(ms, action) {
    const timer = setTimeout(action, ms)
    timer.unref?.()
    return timer
  }

  kill(child, why) {
    try { process.kill(-child.pid, "SIGKILL") } catch { try { child.kill("SIGKILL") } catch {} }
    this.lost(child, why)
  }

  lost(child, why) {
    if (this.child !== child && child !== null) return
    this.child = null
    clearTimeout(this.readyTimer)
    this.failed = why
    this.interest = null
    this.resolveReady()
    for (const { reject } of this.pending.values()) reject(new Error(why))
    this.pending.clear()
    if (this.closed) return
    const wait = BACKOFF_MS[Math.min(this.attempt++, BACKOFF_MS.length - 1)]
    this.later(wait, () => this.start())
  }

  write(message) {
    try { this.child?.stdin.write(JSON.stringify(message) + "\n") } catch {}
  }

  take(child, line) {
    if (child !== this.child) return
    let message
    try { message = JSON.parse(line) } catch { return }
    if (message.op === "ready") {
      this.interest = message.interest
      this.failClosed = INSTALLED.failClosed || message.failClosed
      this.tools = message.tools
      this.timeoutMs = message.timeoutMs
      this.attempt = 0
      this.told = false
      clearTimeout(this.readyTimer)
      return this.resolveReady()
    }
    if (message.op === "rpc") return void this.rpc(message)
    const waiting = this.pending.get(message.id)
    if (!waiting) return
    this.pending.delete(message.id)
    clearTimeout(waiting.timer)
    if (message.error) waiting.reject(new Error(message.error))
    else waiting.resolve(message)
  }

  async rpc({ id, method, path, body }) {
    const answer = { op: "rpc-result", id, status: 0, body: null }
    try {
      const config = this.ctx.client._client.getConfig()
      const headers = new Headers(config.headers) // selects the directory and carries the password of `opencode serve`
      headers.set("content-type", "application/json")
      const url = new URL(path, config.baseUrl || this.ctx.serverUrl)
      const response = await (config.fetch || fetch)(new Request(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }))
      answer.status = response.status
      const text = await response.text()
      try { answer.body = JSON.parse(text) } catch { answer.body = text }
    } catch (error) {
      answer.body = String(error)
    }
    this.write(answer)
  }

  async wants(hook, subject) {
    if (!this.interest && !this.failed) await this.ready
    if (!this.interest) throw new Error(this.failed)
    return includes(this.interest[hook], subject)
  }

  ask(message, limitMs = this.timeoutMs) {
    const child = this.child
    const id = ++this.number
    const line = JSON.stringify({ id, ...message }) + "\n"
    if (line.length > LINE_LIMIT) return Promise.reject(new Error(`the payload of ${line.length} bytes is over the limit of ${LINE_LIMIT}`))
    return new Promise((resolve, reject) => {
      const timer = this.later(limitMs, () => {
        this.pending.delete(id)
        reject(new Error(`no answer within ${limitMs} ms`))
        if (child === this.child && child) this.kill(child, "it did not answer in time")
      })
      this.pending.set(id, { resolve, reject, timer })
      if (!child) return reject(new Error(this.failed || "it is not running"))
      try { child.stdin.write(line) } catch (error) { reject(error) }
    })
  }

  async call(hook, input, output) {
    let reply
    try {
      const subject = SUBJECT[hook]?.(input ?? {})
      if (!(await this.wants(hook, subject)) && !(hook === "tool.execute.after" && this.followed.delete(callOf(input)))) return
      const [sentInput, sentOutput] = SEND[hook]?.(input, output) ?? [input, output]
      reply = await this.ask({ hook, input: sentInput, output: sentOutput })
    } catch (error) {
      return this.unreachable(hook, error.message)
    }
    if (reply.block !== undefined) {
      if (hook !== "tool.execute.before" && process.argv.includes("run")) process.stderr.write(`\n${reply.block}\n`)
      throw new Error(reply.block)
    }
    if (reply.follow) this.followed.add(callOf(input))
    if (reply.edits && output.jsonSchema) output.jsonSchema = structuredClone(output.jsonSchema) // one for all projects of the process
    for (const [path, value] of reply.edits ?? []) edit(output, path, value)
  }

  async toolMap() {
    await Promise.race([this.ready, new Promise((resolve) => this.later(TOOLS_MS, resolve))])
    const map = {}
    for (const [name, { description, parameters }] of Object.entries(this.tools)) {
      map[name] = { description, args: parameters.properties ?? {}, execute: (args, context) => this.runTool(name, args, context) }
    }
    return map
  }

  async runTool(name, args, context) {
    const call = { tool: name, args, sessionID: context.sessionID, callID: context.callID, agent: context.agent }
    let reply = await this.reach(call)
    if (reply.ask) {
      for (const question of reply.ask) await context.ask(question) // throws what the person refused
      reply = await this.reach({ ...call, asked: true })
    }
    if (reply.block !== undefined) throw new Error(reply.block)
    return reply.result
  }

  async reach(call) {
    try {
      return await this.ask(call, TOOL_MS)
    } catch (error) {
      throw new Error(`${call.tool} cannot be reached: ${error.message}. Ask the user to run: matrixx doctor`)
    }
  }

  // OpenCode makes every property required; the model is shown the tool's real schema.
  describe(input, output) {
    const own = this.tools[input.toolID]
    if (own) output.jsonSchema = own.parameters
  }

  unreachable(hook, why) {
    if (GUARDED.has(hook) && this.failClosed) {
      throw new Error(`Refused by Matrixx: its engine cannot be reached (${why}) and "fail_closed" is set. Ask the user to run: matrixx doctor`)
    }
    if (this.told) return
    this.told = true
    const message = `Matrixx is not guarding this session: ${why}. Run: matrixx doctor`
    Promise.resolve(this.ctx.client.tui?.showToast?.({ body: { title: "Matrixx", message, variant: "error" } })).catch(() => {})
    if (process.argv.includes("run")) process.stderr.write(`\n${message}\n`)
  }

  event(event) {
    if (this.interest === null) {
      if (!this.failed) this.ready.then(() => this.interest && this.event(event))
      return
    }
    const part = event.type === "message.part.updated" && event.properties?.part
    const failure = part?.type === "tool" && part.state?.status === "error" && this.interest.failures
    if (failure || includes(this.interest.event, event.type)) this.write({ event })
  }

  async dispose() {
    this.closed = true
    const child = this.child
    if (!child) return
    const ended = new Promise((resolve) => child.on("exit", resolve))
    child.stdin.end()
    const late = new Promise((resolve) => this.later(DISPOSE_MS, () => resolve("late")))
    if ((await Promise.race([ended, late])) === "late") this.kill(child, "it did not end in time")
  }
}

export const Matrixx = async (ctx) => {
  const engine = new Engine(ctx)
  const hooks = {}
  for (const hook of HOOKS) hooks[hook] = (input, output) => engine.call(hook, input, output)
  const definition = hooks["tool.definition"]
  hooks["tool.definition"] = (input, output) => {
    engine.describe(input, output)
    return definition(input, output)
  }
  hooks.tool = await engine.toolMap()
  hooks.event = async ({ event }) => {
    try { engine.event(event) } catch {} // a throw here would hang OpenCode
  }
  hooks.dispose = () => engine.dispose()
  return hooks
}
