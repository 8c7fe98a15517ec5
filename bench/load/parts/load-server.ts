import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import { orThrow, type SessionHandle } from '@holdfast/protocol'
import { startServerProcess } from '../../../test/e2e/server-process.ts'
import { forkPart, nextMessage } from './fork-part.ts'
import type { Percentiles } from './percentiles.ts'
import type { Target } from './viewer.ts'

/** What the probe in the server reports. */
export type ServerReport = {
  readonly rssBytes: number
  readonly privateBytes: number
  /** What is in use after a collection of garbage, with buffers. */
  readonly heapBytes: number
  readonly loop: Omit<Percentiles, 'count'>
  /** Since the last reset. */
  readonly cpuMs: number
  /** Open TCP connections, also those to the model service. */
  readonly connections: number
  readonly held: Readonly<Record<string, number>>
  /** Texts that were encoded as bytes since counting began; null before. */
  readonly encoded: { readonly texts: number; readonly bytes: number } | null
}

export type LoadServer = Awaited<ReturnType<typeof startLoadServer>>

const model = 'anthropic/claude-sonnet-4-5'
const probe = new URL('./probe.mjs', import.meta.url).href

/** Starts a real `holdfast serve` with a probe in it, and a fake model service: each is a process of its own. */
export async function startLoadServer(
  dir: string,
  { home = join(dir, 'home'), args = [] }: { readonly home?: string; readonly args?: readonly string[] } = {},
) {
  const workdir = join(dir, 'work')
  await mkdir(workdir, { recursive: true })
  const service = forkPart('model-service.ts')
  const { port } = (await nextMessage(service.process)) as { readonly port: number } // its first message
  const env = { ANTHROPIC_API_KEY: 'sk-ant-load', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}/v1` }
  const startedAtMs = performance.now()
  const server = await startServerProcess({ home, env, args, preload: probe })
  const startMs = performance.now() - startedAtMs
  const ask = async <Answer>(question: string): Promise<Answer> => {
    const answer = nextMessage(server.process)
    server.process.send(question)
    return (await answer) as Answer // as the probe answers
  }
  return {
    ...server,
    /** From the start of the process until it listened. */
    startMs,
    target: (path: string): Target => ({ url: server.url, path, token: server.token }),
    /** Starts a session whose model says what its prompts ask for. */
    start: async (): Promise<SessionHandle> => orThrow(await server.sessions.start({ workdir, model })),
    /** Asks the probe for its figures, after a collection of garbage. */
    report: () => ask<ServerReport>('report'),
    /** The same without a collection, which takes time. */
    look: () => ask<ServerReport>('look'),
    /** Begins to measure the event loop and the CPU anew. */
    reset: () => ask<unknown>('reset'),
    countEncodings: () => ask<unknown>('count'),
    async [Symbol.asyncDispose]() {
      await server.kill()
      await service[Symbol.asyncDispose]()
    },
  }
}

export const eventsPath = ({ id }: Pick<SessionHandle, 'id'>, query = ''): string => `/v1/sessions/${id}/events${query}`

export type Words = { readonly words: number; readonly bytes: number; readonly rate: number }

/** Lets the model say words, and returns a function that waits for the end of the turn and returns its last record. */
export async function say(handle: SessionHandle, { words, bytes, rate }: Words): Promise<() => Promise<number>> {
  const { seq } = await createSession(handle).sendPrompt(`say ${words} words of ${bytes} bytes at ${rate}/s`)
  return async () => {
    for await (const frame of handle.subscribe({ after: seq }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return frame.record.seq
    throw new Error('the stream ended before the turn')
  }
}
