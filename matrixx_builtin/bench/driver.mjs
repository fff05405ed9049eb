// Commands of the benchmark, one JSON object a line in, one out: what runs inside the host program in real life.
import { readFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

const silent = () => async (_input, _output) => {}
const hooks = (count) => Array.from({ length: count }, silent)
const [look, judge, change] = [hooks(4), hooks(7), hooks(6)]

// The shape of a dispatch: two waves side by side, one in order.
async function waves(input, output) {
  await Promise.all(look.map((hook) => hook(input, output)))
  await Promise.all(judge.map((hook) => hook(input, output)))
  for (const hook of change) await hook(input, output)
}

const bridges = {}
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const COMMANDS = {
  // Seconds for one dispatch of 17 hooks.
  async waves({ repeat }) {
    for (let i = 0; i < repeat / 10; i++) await waves({ tool: "write" }, { args: {} })
    const started = performance.now()
    for (let i = 0; i < repeat; i++) await waves({ tool: "write" }, { args: {} })
    return (performance.now() - started) / repeat / 1e3
  },

  // Open a bridge to an engine started by `argv`.
  async open({ name, bridge, folder, argv }) {
    const source = readFileSync(bridge, "utf8")
    const file = `${folder}/${name}.mjs`
    writeFileSync(file, source.replace(/^const INSTALLED = .*$/m, `const INSTALLED = ${JSON.stringify({ command: argv, failClosed: true })}`))
    const { Matrixx } = await import(pathToFileURL(file).href)
    bridges[name] = await Matrixx({ directory: `${folder}/project`, worktree: `${folder}/project`, client: {} })
    await COMMANDS.call({ name, tool: "read", args: {}, repeat: 1 }) // waits until it is ready
    return null
  },

  // Seconds for one before-call, `gap` milliseconds apart.
  async call({ name, tool, args, repeat, gap }) {
    let took = 0
    for (let i = 0; i < repeat; i++) {
      if (gap) await wait(gap)
      const started = performance.now()
      await bridges[name]["tool.execute.before"]({ tool, sessionID: "ses_bench", callID: `call_${i}` }, { args })
      took += performance.now() - started
    }
    return took / repeat / 1e3
  },

  async close() {
    for (const bridge of Object.values(bridges)) await bridge.dispose()
    return null
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...given } = JSON.parse(line)
  let answer
  try {
    answer = { value: await COMMANDS[command](given) }
  } catch (error) {
    answer = { error: String(error?.message ?? error) }
  }
  process.stdout.write(JSON.stringify(answer) + "\n")
}
process.exit(0)
