/**
 * Runs one command through the real server and prints the files and functions it passes on each thread, in order.
 * Examples: `npm run walk -- rename`, `npm run walk -- sendPrompt content=list`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { connectSessions } from '@holdfast/client'
import {
  Command,
  type CommandInput,
  commandFault,
  commandTypes,
  orThrow,
  type SessionHandle,
  unknownCommand,
} from '@holdfast/protocol'
import type { Call, Tracing } from './walk/trace.ts'

const root = resolve(import.meta.dirname, '..')
const examples: { readonly [type: string]: object } = {
  rename: { title: 'A new title' },
  sendPrompt: { content: 'hello' },
}

/** Returns the calls of our functions from the POST of a command to its last record on the event stream. */
export async function walk(input: CommandInput): Promise<readonly Call[]> {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-walk-'))
  const calls = join(home, 'calls.jsonl')
  const server = startTracedServer(home, calls)
  try {
    await untilListening(server)
    const { url, tokenFile } = JSON.parse(await readFile(join(home, 'state/server.json'), 'utf8'))
    const sessions = connectSessions({ url, token: (await readFile(tokenFile, 'utf8')).trim() })
    const session = orThrow(await sessions.start({ workdir: home, model: 'demo/agent' }))
    await following(session, async (nextRecord) => {
      // The first command of a process also loads modules and fills caches: only the second one is traced.
      await Promise.all([nextRecord(), submit(session, { type: 'rename', title: 'Before' })])
      await setTracing(server, 'on')
      await Promise.all([nextRecord(input.type === 'sendPrompt' ? 'turn.ended' : undefined), submit(session, input)])
      await setTracing(server, 'off')
    })
    return (await readFile(calls, 'utf8'))
      .trim()
      .split('\n')
      .map((line): Call => JSON.parse(line))
  } finally {
    server.kill('SIGKILL')
    await rm(home, { recursive: true, force: true })
  }
}

function startTracedServer(home: string, calls: string): ChildProcess {
  const trace = pathToFileURL(join(import.meta.dirname, 'walk/trace.ts')).href
  const bin = join(root, 'packages/holdfast/bin/holdfast.mjs')
  const flags = ['--disable-warning=ExperimentalWarning', '--import', trace]
  return spawn(process.execPath, [...flags, bin, 'serve', '--port', '0'], {
    // A compile cache would hold modules that were not instrumented.
    env: { ...process.env, HOLDFAST_HOME: home, HOLDFAST_WALK_FILE: calls, NODE_DISABLE_COMPILE_CACHE: '1' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}

async function untilListening(server: ChildProcess): Promise<void> {
  if (!server.stdout || !server.stderr) throw new Error('The server has no output.')
  const errors: string[] = []
  server.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
  for await (const line of createInterface({ input: server.stdout })) if (line.includes('/login?code=')) return
  throw new Error(`The server did not start:\n${errors.join('')}`)
}

async function setTracing(server: ChildProcess, tracing: Tracing): Promise<void> {
  const done = once(server, 'message')
  server.send(tracing)
  await done
}

const submit = async (session: SessionHandle, command: CommandInput) => orThrow(await session.submit(command))

/** Follows the session while `work` runs; `nextRecord` resolves with the next record, or the next one of a type. */
async function following(
  session: SessionHandle,
  work: (nextRecord: (type?: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  let waiting: { readonly type: string | undefined; readonly resolve: () => void }[] = []
  const stop = new AbortController()
  const attached = Promise.withResolvers<void>()
  const stream = (async () => {
    for await (const frame of session.subscribe({ signal: stop.signal })) {
      if (frame.type === 'snapshot') attached.resolve()
      if (frame.type !== 'record') continue
      const isFor = ({ type }: { readonly type: string | undefined }) =>
        (type ?? frame.record.event.type) === frame.record.event.type
      for (const { resolve } of waiting.filter(isFor)) resolve()
      waiting = waiting.filter((one) => !isFor(one))
    }
  })()
  await attached.promise
  await work((type) => new Promise((resolve) => waiting.push({ type, resolve })))
  stop.abort()
  await stream
}

/** Returns the distinct files and functions of each thread, functions in the order of their first call. */
export function summarize(calls: readonly Call[]) {
  const ordered = calls.toSorted((left, right) => left.order - right.order)
  return [...Map.groupBy(ordered, ({ thread }) => thread)].map(([thread, own]) => {
    const functions = [...new Map(own.map((call) => [`${call.file} ${call.name}`, call])).values()]
    return { thread, files: new Set(own.map(({ file }) => file)), functions }
  })
}

function printThreads(calls: readonly Call[]): void {
  for (const { thread, files, functions } of summarize(calls)) {
    process.stdout.write(`\n${thread}: ${files.size} files, ${functions.length} functions\n`)
    let last = ''
    for (const { file, name } of functions) {
      if (file !== last) process.stdout.write(`  ${file}\n`)
      last = file
      process.stdout.write(`    ${name}\n`)
    }
  }
}

/** Parses a command, or prints why it is invalid and returns null. */
function parseCommand([type = 'rename', ...fields]: readonly string[]): CommandInput | null {
  const given = Object.fromEntries(fields.map((field) => field.split(/=(.*)/s).slice(0, 2)))
  const input = { type, ...examples[type], ...given }
  const command = Command.safeParse(input)
  if (command.success) return command.data
  const isKnown = commandTypes.some((known) => known === type)
  const message = isKnown ? commandFault(input, command.error).message : unknownCommand(type)
  process.stderr.write(`${message}\n`)
  return null
}

if (process.argv[1] === import.meta.filename) {
  const command = parseCommand(process.argv.slice(2))
  if (command) printThreads(await walk(command))
  else process.exitCode = 2
}
