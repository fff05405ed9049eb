// Calls the bridge as OpenCode would, without OpenCode: node drive.mjs BRIDGE, the steps as JSON on standard input.
// A step is {hook, input, output} or {event} or {started: n} (wait for that many engines) or {tool, args, refuse} or {dispose: true}.
import { readFileSync, existsSync } from "node:fs"

const { steps, directory, hurry } = JSON.parse(readFileSync(0, "utf8"))
const alive = setInterval(() => {}, 1000) // the bridge keeps no process alive by itself
const delays = []
const toasts = []
const later = globalThis.setTimeout
const READY = 15_000
globalThis.setTimeout = (action, ms) => {
  delays.push(ms)
  return later(action, hurry && ms !== READY ? ms / 1000 : ms)
}

// As in OpenCode, a request made while the plugin is being made is answered only after that.
let made
const ready = new Promise((resolve) => { made = resolve })
async function answer(request) {
  await ready
  const body = { method: request.method, path: new URL(request.url).pathname, from: request.headers.get("x-from"), body: await request.text() }
  return new Response(JSON.stringify(body), { status: 200 })
}
const client = {
  _client: { getConfig: () => ({ baseUrl: "http://opencode.test", headers: { "x-from": "config" }, fetch: answer }) },
  tui: { showToast: async ({ body }) => { await ready; toasts.push(body.message) } },
}

const { Matrixx } = await import(process.argv[2])
const hooks = await Matrixx({ directory, worktree: directory, client })
made()

// All objects and arrays inside a value, in a fixed order: the bridge must fill these very ones.
const inside = (value) => (value && typeof value === "object" ? [value, ...Object.keys(value).sort().flatMap((key) => inside(value[key]))] : [])

const started = () => (existsSync(`${directory}/started`) ? readFileSync(`${directory}/started`, "utf8").length : 0)
const results = []
for (const step of steps) {
  const result = {}
  if (step.started) while (started() < step.started) await new Promise((resolve) => later(resolve, 10))
  if (step.dispose) await hooks.dispose()
  if (step.event) await hooks.event({ event: step.event })
  if (step.tool) {
    const ask = async (question) => { (result.asked ??= []).push(question); if (step.refuse) throw new Error("the person said no") }
    const context = { sessionID: "ses_1", callID: "call_1", agent: "build", ask }
    try { result.result = await hooks.tool[step.tool].execute(step.args, context) } catch (error) { result.thrown = error.message }
  }
  if (step.hook) {
    const before = inside(step.output)
    try { await hooks[step.hook](step.input, step.output) } catch (error) { result.thrown = error.message }
    const after = new Set(inside(step.output))
    Object.assign(result, { output: step.output, kept: before.map((one) => after.has(one)) })
  }
  results.push(result)
}
clearInterval(alive)
process.stdout.write(JSON.stringify({ results, delays, toasts, tools: hooks.tool }), () => process.exit(0))
