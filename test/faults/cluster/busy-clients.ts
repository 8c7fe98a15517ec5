import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Dice } from '@holdfast/testkit'
import type { ClusterProcess, ThreeNodes } from './three-nodes.ts'

/** A command that was acknowledged: it must be in the log, once, at this seq. */
export type Acknowledged = { readonly session: string; readonly commandId: string; readonly seq: number }

export type BusyClients = {
  readonly sessions: readonly string[]
  readonly acknowledged: readonly Acknowledged[]
  /** Answers that no fault explains. */
  readonly unexpected: readonly string[]
  /** The file to which the commands of calls write their marks. */
  readonly marks: string
  /** Resolves when each session has acknowledged a command that was sent from now on. Rejects after a minute without. */
  progress(): Promise<void>
  /** What each node last answered for each session. */
  answers(): string
  stop(): Promise<void>
}

/** Codes that a client may get while a session moves or the database is away. It sends the same command again. */
const transient = new Set([
  ...['storage_error', 'unreachable', 'session_locked', 'session_stopped', 'fenced', 'log_moved', 'not_ready'],
  ...['server_busy', 'workdir_elsewhere', 'store_too_new', 'internal'],
])

const requestMsMax = 1200
const pauseMs = 30
const newSession = { title: 'Busy', model: 'demo/agent', approvals: 'none' }
const startMsMax = 60_000
/** A node is up again within seconds, also on a busy machine. */
const progressMsMax = 60_000

/** Starts sessions, and sends commands to random nodes until each is acknowledged. */
export async function startClients(
  cluster: ThreeNodes,
  { workdir, sessions, dice }: { readonly workdir: string; readonly sessions: number; readonly dice: Dice },
): Promise<BusyClients> {
  const acknowledged: Acknowledged[] = []
  const unexpected: string[] = []
  const marks = join(workdir, 'marks')
  appendFileSync(marks, '')
  const closing = new AbortController()
  const waiting = new Set<{ session: string; since: number; done: () => void }>()
  let sent = 0
  const last = new Map<string, string>()
  const answers = () => [...last].map(([where, what]) => `${where}: ${what}`).join('\n')

  async function ask(node: ClusterProcess, path: string, body: unknown): Promise<{ status: number; json: Answered }> {
    const url = node.server?.url
    if (url === undefined) throw new Error('the node is down')
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(requestMsMax)]),
    })
    return { status: response.status, json: (await response.json()) as Answered } // as the server sends it
  }

  /** Sends a command until a node has acknowledged or refused it. */
  async function insist(session: string, commandId: string, command: object): Promise<void> {
    const number = sent++
    while (!closing.signal.aborted) {
      const node = dice.pick(cluster.nodes)
      const note = (what: string) =>
        last.set(`${session} at ${node?.name}`, `${what}, ${commandId} at ${new Date().toISOString()}`)
      try {
        if (!node) throw new Error('there is no node')
        const { status, json } = await ask(node, `/v1/sessions/${session}/commands`, { ...command, commandId })
        if (status === 202) {
          note('acknowledged')
          acknowledged.push({ session, commandId, seq: json.seq ?? -1 })
          for (const one of waiting) if (one.session === session && one.since <= number) one.done()
          return
        }
        const code = json.error?.code ?? String(status)
        note(JSON.stringify(json.error ?? status))
        if (code === 'turn_running') return
        if (!transient.has(code)) unexpected.push(`${session} ${commandId}: ${JSON.stringify(json)}`)
      } catch (cause) {
        note(String(cause)) // the node was killed, or stopped, or does not answer: the next one does
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async function work(session: string): Promise<void> {
    for (let number = 0; !closing.signal.aborted; number++) {
      const name = `${session}-${number}`
      if (number % 5 === 4) await insist(session, name, prompt(`run echo ${name} >> ${marks}`))
      else if (number % 5 === 2) await insist(session, name, prompt('count to 20'))
      else await insist(session, name, { type: 'rename', title: `Title ${number}` })
    }
  }

  /** Starts a session at any node. A busy machine can make nodes slow, or miss their terms, before the first fault. */
  async function startSession(): Promise<string> {
    let answer = 'none'
    for (const untilMs = performance.now() + startMsMax; performance.now() < untilMs; ) {
      try {
        const node = dice.pick(cluster.nodes)
        if (!node) throw new Error('there is no node')
        const { json } = await ask(node, '/v1/sessions', { workdir, ...newSession })
        if (json.session) return json.session.id
        answer = JSON.stringify(json)
      } catch (cause) {
        answer = String(cause)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    throw new Error(`no session could be started, the last answer was ${answer}`)
  }
  const ids: string[] = []
  while (ids.length < sessions) ids.push(await startSession())
  const working = ids.map(work)
  return {
    sessions: ids,
    acknowledged,
    unexpected,
    marks,
    answers,
    async progress() {
      const since = sent
      const all = Promise.all(
        ids.map(
          (session) =>
            new Promise<void>((resolve) => {
              const done = () => {
                waiting.delete(one)
                resolve()
              }
              const one = { session, since, done }
              waiting.add(one)
            }),
        ),
      )
      await within(progressMsMax, all, () => new Error(`no progress for ${progressMsMax / 1000} s\n${answers()}`))
    },
    async stop() {
      closing.abort()
      await Promise.all(working)
    },
  }
}

/** Waits for a promise, so long at most. */
export async function within<Value>(ms: number, promise: Promise<Value>, late: () => Error): Promise<Value> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), ms)
  return Promise.race([promise, over]).finally(() => clearTimeout(timer))
}

type Answered = {
  readonly seq?: number
  readonly session?: { readonly id: string }
  readonly error?: { readonly code: string }
}

const prompt = (text: string) => ({ type: 'sendPrompt', content: [{ type: 'text', text }] })
